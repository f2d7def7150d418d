// Package view reads snapshots: it loads headers and messages, and renders them as the Markdown document that a user sees.
package view
