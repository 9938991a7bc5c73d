create index concurrently people_by_country on people (country);
