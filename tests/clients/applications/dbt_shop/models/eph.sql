{{ config(materialized='ephemeral') }}
select * from {{ ref('raw_orders') }} where status <> 'void'
