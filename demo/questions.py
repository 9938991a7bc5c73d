"""What every client of the demo is asked to do: the same SQL on every wire."""

from __future__ import annotations

#: A report over three tables. Written so that PostgreSQL, Informix, MySQL and SQLite understand it alike.
REPORT = """\
SELECT o.order_id, c.name, o.placed_at, o.status, COUNT(*) AS item_count, SUM(i.quantity * i.unit_price) AS total
FROM orders o
JOIN customers c ON c.customer_id = o.customer_id
JOIN items i ON i.order_id = o.order_id
WHERE o.order_id <= 12
GROUP BY o.order_id, c.name, o.placed_at, o.status
ORDER BY o.order_id"""

#: One order by its key, `{}` being the parameter: the cost of a small question.
POINT = "SELECT order_id, status, placed_at FROM orders WHERE order_id = {}"

#: A new customer; the parameters are those of `customer`.
INSERT = (
    "INSERT INTO customers (customer_id, name, email, city, active, credit_limit, member_since) "
    "VALUES ({}, {}, {}, {}, {}, {}, {})"
)

#: Read back what was written; the parameter is the customer's number.
READ_BACK = (
    "SELECT customer_id, name, city, active, credit_limit, member_since FROM customers "
    "WHERE customer_id >= {} AND customer_id < {} ORDER BY customer_id"
)

#: How many small questions are timed.
OPERATIONS = 500
