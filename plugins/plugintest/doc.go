// Package plugintest is the conformance suite for plugins: it checks the rules that every
// resource type must follow. A plugin's test calls [Run].
package plugintest
