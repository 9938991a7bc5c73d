select first 3 c.name, sum(o.total) from customers c, outer orders o where c.id = o.customer_id and c.name matches 'A*' group by 1 order by 2 desc
