{{ config(materialized='table', indexes=[{'columns': ['id'], 'unique': true}, {'columns': ['city'], 'type': 'btree'}]) }}
with o as (select customer_id, count(*) as orders, sum(amount) as total, max(placed_at) as last_at from {{ ref('raw_orders') }} group by 1)
select c.id, c.name, c.city, coalesce(o.orders, 0) as orders, coalesce(o.total, 0)::numeric(12,2) as total, o.last_at
from {{ ref('raw_customers') }} as c left join o on o.customer_id = c.id
