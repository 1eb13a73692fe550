module valuetargets

go 1.16
