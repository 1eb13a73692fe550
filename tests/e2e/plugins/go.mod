module plugins

go 1.22
