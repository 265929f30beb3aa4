package redis

// ParseURL is for url_test.go.
var ParseURL = parseURL
