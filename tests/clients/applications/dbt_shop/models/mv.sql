{{ config(materialized='materialized_view', indexes=[{'columns': ['status']}]) }}
select status, count(*) as n from {{ ref('raw_orders') }} group by status
