// Package plugintest is the conformance suite of plugins: what every type of
// resource must do, whoever wrote it. A test of a plugin calls [Run].
package plugintest
