module gotrace/hotprofile

go 1.22
