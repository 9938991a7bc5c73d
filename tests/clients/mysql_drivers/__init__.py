"""The suites of PyMySQL, mysqlclient, aiomysql and asyncmy, run with our driver under their names."""
