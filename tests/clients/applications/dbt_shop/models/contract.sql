{{ config(materialized='table', contract={'enforced': true}) }}
select id::int as id, name::varchar(50) as name, total::numeric(12,2) as total from {{ ref('customers') }}
