// Written by tools/postgres_tree.py from the headers of libpg_query; changes here are lost.

//! Where the fields of the parser's nodes lie.

use pg_query::protobuf as p;
use pg_query::protobuf::node::Node as N;

use super::tree::{Obstacle, Place, Reader};

/// Where values and lists have what is theirs.
pub(super) mod at {
    pub(in crate::postgres::raw) const INTEGER: usize = 4;
    pub(in crate::postgres::raw) const FLOAT: usize = 8;
    pub(in crate::postgres::raw) const BOOLEAN: usize = 4;
    pub(in crate::postgres::raw) const STRING: usize = 8;
    pub(in crate::postgres::raw) const BIT_STRING: usize = 8;
    pub(in crate::postgres::raw) const A_CONST: usize = 8;
    pub(in crate::postgres::raw) const A_CONST_ISNULL: usize = 24;
    pub(in crate::postgres::raw) const A_CONST_LOCATION: usize = 28;
    pub(in crate::postgres::raw) const LIST_LENGTH: usize = 4;
    pub(in crate::postgres::raw) const LIST_ELEMENTS: usize = 16;
}

/// Their tags.
pub(super) mod tag {
    pub(in crate::postgres::raw) const INTEGER: u32 = 465;
    pub(in crate::postgres::raw) const FLOAT: u32 = 466;
    pub(in crate::postgres::raw) const BOOLEAN: u32 = 467;
    pub(in crate::postgres::raw) const STRING: u32 = 468;
    pub(in crate::postgres::raw) const BIT_STRING: u32 = 469;
    pub(in crate::postgres::raw) const LIST: u32 = 1;
    pub(in crate::postgres::raw) const A_CONST: u32 = 72;
}

impl Reader {
    /// Reads the node of this tag.
    pub(super) fn tagged(&mut self, tag: u32, at: Place<'_>, to: &mut Option<N>) {
        *to = Some(match tag {
            2 => N::Alias(self.read_alias(at)),
            3 => N::RangeVar(self.read_range_var(at)),
            5 => N::IntoClause(Box::new(self.read_into_clause(at))),
            10 => N::GroupingFunc(Box::new(self.read_grouping_func(at))),
            13 => N::MergeSupportFunc(Box::new(self.read_merge_support_func(at))),
            15 => N::FuncExpr(Box::new(self.read_func_expr(at))),
            16 => N::NamedArgExpr(Box::new(self.read_named_arg_expr(at))),
            21 => N::BoolExpr(Box::new(self.read_bool_expr(at))),
            22 => N::SubLink(Box::new(self.read_sub_link(at))),
            32 => N::CaseExpr(Box::new(self.read_case_expr(at))),
            33 => N::CaseWhen(Box::new(self.read_case_when(at))),
            36 => N::RowExpr(Box::new(self.read_row_expr(at))),
            38 => N::CoalesceExpr(Box::new(self.read_coalesce_expr(at))),
            39 => N::MinMaxExpr(Box::new(self.read_min_max_expr(at))),
            40 => N::SqlvalueFunction(Box::new(self.read_sql_value_function(at))),
            41 => N::XmlExpr(Box::new(self.read_xml_expr(at))),
            42 => N::JsonFormat(self.read_json_format(at)),
            43 => N::JsonReturning(self.read_json_returning(at)),
            44 => N::JsonValueExpr(Box::new(self.read_json_value_expr(at))),
            46 => N::JsonIsPredicate(Box::new(self.read_json_is_predicate(at))),
            47 => N::JsonBehavior(Box::new(self.read_json_behavior(at))),
            52 => N::NullTest(Box::new(self.read_null_test(at))),
            53 => N::BooleanTest(Box::new(self.read_boolean_test(at))),
            57 => N::SetToDefault(Box::new(self.read_set_to_default(at))),
            58 => N::CurrentOfExpr(Box::new(self.read_current_of_expr(at))),
            64 => N::JoinExpr(Box::new(self.read_join_expr(at))),
            65 => N::FromExpr(Box::new(self.read_from_expr(at))),
            66 => N::OnConflictExpr(Box::new(self.read_on_conflict_expr(at))),
            67 => N::Query(Box::new(self.read_query(at))),
            68 => N::TypeName(self.read_type_name(at)),
            69 => N::ColumnRef(self.read_column_ref(at)),
            70 => N::ParamRef(self.read_param_ref(at)),
            71 => N::AExpr(Box::new(self.read_a_expr(at))),
            73 => N::TypeCast(Box::new(self.read_type_cast(at))),
            74 => N::CollateClause(Box::new(self.read_collate_clause(at))),
            75 => N::RoleSpec(self.read_role_spec(at)),
            76 => N::FuncCall(Box::new(self.read_func_call(at))),
            77 => N::AStar(self.read_a_star(at)),
            78 => N::AIndices(Box::new(self.read_a_indices(at))),
            79 => N::AIndirection(Box::new(self.read_a_indirection(at))),
            80 => N::AArrayExpr(self.read_a_array_expr(at)),
            81 => N::ResTarget(Box::new(self.read_res_target(at))),
            82 => N::MultiAssignRef(Box::new(self.read_multi_assign_ref(at))),
            83 => N::SortBy(Box::new(self.read_sort_by(at))),
            84 => N::WindowDef(Box::new(self.read_window_def(at))),
            85 => N::RangeSubselect(Box::new(self.read_range_subselect(at))),
            86 => N::RangeFunction(self.read_range_function(at)),
            87 => N::RangeTableFunc(Box::new(self.read_range_table_func(at))),
            88 => N::RangeTableFuncCol(Box::new(self.read_range_table_func_col(at))),
            89 => N::RangeTableSample(Box::new(self.read_range_table_sample(at))),
            90 => N::ColumnDef(Box::new(self.read_column_def(at))),
            91 => N::TableLikeClause(self.read_table_like_clause(at)),
            92 => N::IndexElem(Box::new(self.read_index_elem(at))),
            93 => N::DefElem(Box::new(self.read_def_elem(at))),
            94 => N::LockingClause(self.read_locking_clause(at)),
            95 => N::XmlSerialize(Box::new(self.read_xml_serialize(at))),
            96 => N::PartitionElem(Box::new(self.read_partition_elem(at))),
            97 => N::PartitionSpec(self.read_partition_spec(at)),
            98 => N::PartitionBoundSpec(self.read_partition_bound_spec(at)),
            100 => N::PartitionCmd(self.read_partition_cmd(at)),
            107 => N::GroupingSet(self.read_grouping_set(at)),
            110 => N::WithClause(self.read_with_clause(at)),
            111 => N::InferClause(Box::new(self.read_infer_clause(at))),
            112 => N::OnConflictClause(Box::new(self.read_on_conflict_clause(at))),
            113 => N::CtesearchClause(self.read_cte_search_clause(at)),
            114 => N::CtecycleClause(Box::new(self.read_cte_cycle_clause(at))),
            115 => N::CommonTableExpr(Box::new(self.read_common_table_expr(at))),
            116 => N::MergeWhenClause(Box::new(self.read_merge_when_clause(at))),
            117 => N::ReturningOption(self.read_returning_option(at)),
            118 => N::ReturningClause(self.read_returning_clause(at)),
            119 => N::TriggerTransition(self.read_trigger_transition(at)),
            120 => N::JsonOutput(self.read_json_output(at)),
            121 => N::JsonArgument(Box::new(self.read_json_argument(at))),
            122 => N::JsonFuncExpr(Box::new(self.read_json_func_expr(at))),
            123 => N::JsonTablePathSpec(Box::new(self.read_json_table_path_spec(at))),
            124 => N::JsonTable(Box::new(self.read_json_table(at))),
            125 => N::JsonTableColumn(Box::new(self.read_json_table_column(at))),
            126 => N::JsonKeyValue(Box::new(self.read_json_key_value(at))),
            127 => N::JsonParseExpr(Box::new(self.read_json_parse_expr(at))),
            128 => N::JsonScalarExpr(Box::new(self.read_json_scalar_expr(at))),
            129 => N::JsonSerializeExpr(Box::new(self.read_json_serialize_expr(at))),
            130 => N::JsonObjectConstructor(self.read_json_object_constructor(at)),
            131 => N::JsonArrayConstructor(self.read_json_array_constructor(at)),
            132 => N::JsonArrayQueryConstructor(Box::new(self.read_json_array_query_constructor(at))),
            133 => N::JsonAggConstructor(Box::new(self.read_json_agg_constructor(at))),
            134 => N::JsonObjectAgg(Box::new(self.read_json_object_agg(at))),
            135 => N::JsonArrayAgg(Box::new(self.read_json_array_agg(at))),
            136 => N::RawStmt(Box::new(self.read_raw_stmt(at))),
            137 => N::InsertStmt(Box::new(self.read_insert_stmt(at))),
            138 => N::DeleteStmt(Box::new(self.read_delete_stmt(at))),
            139 => N::UpdateStmt(Box::new(self.read_update_stmt(at))),
            140 => N::MergeStmt(Box::new(self.read_merge_stmt(at))),
            141 => N::SelectStmt(Box::new(self.read_select_stmt(at))),
            143 => N::ReturnStmt(Box::new(self.read_return_stmt(at))),
            144 => N::PlassignStmt(Box::new(self.read_pl_assign_stmt(at))),
            145 => N::CreateSchemaStmt(self.read_create_schema_stmt(at)),
            146 => N::AlterTableStmt(self.read_alter_table_stmt(at)),
            147 => N::AlterTableCmd(Box::new(self.read_alter_table_cmd(at))),
            148 => N::AtalterConstraint(self.read_at_alter_constraint(at)),
            149 => N::ReplicaIdentityStmt(self.read_replica_identity_stmt(at)),
            150 => N::AlterCollationStmt(self.read_alter_collation_stmt(at)),
            151 => N::AlterDomainStmt(Box::new(self.read_alter_domain_stmt(at))),
            152 => N::GrantStmt(self.read_grant_stmt(at)),
            153 => N::ObjectWithArgs(self.read_object_with_args(at)),
            154 => N::AccessPriv(self.read_access_priv(at)),
            155 => N::GrantRoleStmt(self.read_grant_role_stmt(at)),
            156 => N::AlterDefaultPrivilegesStmt(self.read_alter_default_privileges_stmt(at)),
            157 => N::CopyStmt(Box::new(self.read_copy_stmt(at))),
            158 => N::VariableSetStmt(self.read_variable_set_stmt(at)),
            159 => N::VariableShowStmt(self.read_variable_show_stmt(at)),
            160 => N::CreateStmt(self.read_create_stmt(at)),
            161 => N::Constraint(Box::new(self.read_constraint(at))),
            162 => N::CreateTableSpaceStmt(self.read_create_table_space_stmt(at)),
            163 => N::DropTableSpaceStmt(self.read_drop_table_space_stmt(at)),
            164 => N::AlterTableSpaceOptionsStmt(self.read_alter_table_space_options_stmt(at)),
            165 => N::AlterTableMoveAllStmt(self.read_alter_table_move_all_stmt(at)),
            166 => N::CreateExtensionStmt(self.read_create_extension_stmt(at)),
            167 => N::AlterExtensionStmt(self.read_alter_extension_stmt(at)),
            168 => N::AlterExtensionContentsStmt(Box::new(self.read_alter_extension_contents_stmt(at))),
            169 => N::CreateFdwStmt(self.read_create_fdw_stmt(at)),
            170 => N::AlterFdwStmt(self.read_alter_fdw_stmt(at)),
            171 => N::CreateForeignServerStmt(self.read_create_foreign_server_stmt(at)),
            172 => N::AlterForeignServerStmt(self.read_alter_foreign_server_stmt(at)),
            173 => N::CreateForeignTableStmt(self.read_create_foreign_table_stmt(at)),
            174 => N::CreateUserMappingStmt(self.read_create_user_mapping_stmt(at)),
            175 => N::AlterUserMappingStmt(self.read_alter_user_mapping_stmt(at)),
            176 => N::DropUserMappingStmt(self.read_drop_user_mapping_stmt(at)),
            177 => N::ImportForeignSchemaStmt(self.read_import_foreign_schema_stmt(at)),
            178 => N::CreatePolicyStmt(Box::new(self.read_create_policy_stmt(at))),
            179 => N::AlterPolicyStmt(Box::new(self.read_alter_policy_stmt(at))),
            180 => N::CreateAmStmt(self.read_create_am_stmt(at)),
            181 => N::CreateTrigStmt(Box::new(self.read_create_trig_stmt(at))),
            182 => N::CreateEventTrigStmt(self.read_create_event_trig_stmt(at)),
            183 => N::AlterEventTrigStmt(self.read_alter_event_trig_stmt(at)),
            184 => N::CreatePlangStmt(self.read_create_p_lang_stmt(at)),
            185 => N::CreateRoleStmt(self.read_create_role_stmt(at)),
            186 => N::AlterRoleStmt(self.read_alter_role_stmt(at)),
            187 => N::AlterRoleSetStmt(self.read_alter_role_set_stmt(at)),
            188 => N::DropRoleStmt(self.read_drop_role_stmt(at)),
            189 => N::CreateSeqStmt(self.read_create_seq_stmt(at)),
            190 => N::AlterSeqStmt(self.read_alter_seq_stmt(at)),
            191 => N::DefineStmt(self.read_define_stmt(at)),
            192 => N::CreateDomainStmt(Box::new(self.read_create_domain_stmt(at))),
            193 => N::CreateOpClassStmt(self.read_create_op_class_stmt(at)),
            194 => N::CreateOpClassItem(self.read_create_op_class_item(at)),
            195 => N::CreateOpFamilyStmt(self.read_create_op_family_stmt(at)),
            196 => N::AlterOpFamilyStmt(self.read_alter_op_family_stmt(at)),
            197 => N::DropStmt(self.read_drop_stmt(at)),
            198 => N::TruncateStmt(self.read_truncate_stmt(at)),
            199 => N::CommentStmt(Box::new(self.read_comment_stmt(at))),
            200 => N::SecLabelStmt(Box::new(self.read_sec_label_stmt(at))),
            201 => N::DeclareCursorStmt(Box::new(self.read_declare_cursor_stmt(at))),
            202 => N::ClosePortalStmt(self.read_close_portal_stmt(at)),
            203 => N::FetchStmt(self.read_fetch_stmt(at)),
            204 => N::IndexStmt(Box::new(self.read_index_stmt(at))),
            205 => N::CreateStatsStmt(self.read_create_stats_stmt(at)),
            206 => N::StatsElem(Box::new(self.read_stats_elem(at))),
            207 => N::AlterStatsStmt(Box::new(self.read_alter_stats_stmt(at))),
            208 => N::CreateFunctionStmt(Box::new(self.read_create_function_stmt(at))),
            209 => N::FunctionParameter(Box::new(self.read_function_parameter(at))),
            210 => N::AlterFunctionStmt(self.read_alter_function_stmt(at)),
            211 => N::DoStmt(self.read_do_stmt(at)),
            213 => N::CallStmt(Box::new(self.read_call_stmt(at))),
            215 => N::RenameStmt(Box::new(self.read_rename_stmt(at))),
            216 => N::AlterObjectDependsStmt(Box::new(self.read_alter_object_depends_stmt(at))),
            217 => N::AlterObjectSchemaStmt(Box::new(self.read_alter_object_schema_stmt(at))),
            218 => N::AlterOwnerStmt(Box::new(self.read_alter_owner_stmt(at))),
            219 => N::AlterOperatorStmt(self.read_alter_operator_stmt(at)),
            220 => N::AlterTypeStmt(self.read_alter_type_stmt(at)),
            221 => N::RuleStmt(Box::new(self.read_rule_stmt(at))),
            222 => N::NotifyStmt(self.read_notify_stmt(at)),
            223 => N::ListenStmt(self.read_listen_stmt(at)),
            224 => N::UnlistenStmt(self.read_unlisten_stmt(at)),
            225 => N::TransactionStmt(self.read_transaction_stmt(at)),
            226 => N::CompositeTypeStmt(self.read_composite_type_stmt(at)),
            227 => N::CreateEnumStmt(self.read_create_enum_stmt(at)),
            228 => N::CreateRangeStmt(self.read_create_range_stmt(at)),
            229 => N::AlterEnumStmt(self.read_alter_enum_stmt(at)),
            230 => N::ViewStmt(Box::new(self.read_view_stmt(at))),
            231 => N::LoadStmt(self.read_load_stmt(at)),
            232 => N::CreatedbStmt(self.read_createdb_stmt(at)),
            233 => N::AlterDatabaseStmt(self.read_alter_database_stmt(at)),
            234 => N::AlterDatabaseRefreshCollStmt(self.read_alter_database_refresh_coll_stmt(at)),
            235 => N::AlterDatabaseSetStmt(self.read_alter_database_set_stmt(at)),
            236 => N::DropdbStmt(self.read_dropdb_stmt(at)),
            237 => N::AlterSystemStmt(self.read_alter_system_stmt(at)),
            238 => N::ClusterStmt(self.read_cluster_stmt(at)),
            239 => N::VacuumStmt(self.read_vacuum_stmt(at)),
            240 => N::VacuumRelation(self.read_vacuum_relation(at)),
            241 => N::ExplainStmt(Box::new(self.read_explain_stmt(at))),
            242 => N::CreateTableAsStmt(Box::new(self.read_create_table_as_stmt(at))),
            243 => N::RefreshMatViewStmt(self.read_refresh_mat_view_stmt(at)),
            244 => N::CheckPointStmt(self.read_check_point_stmt(at)),
            245 => N::DiscardStmt(self.read_discard_stmt(at)),
            246 => N::LockStmt(self.read_lock_stmt(at)),
            247 => N::ConstraintsSetStmt(self.read_constraints_set_stmt(at)),
            248 => N::ReindexStmt(self.read_reindex_stmt(at)),
            249 => N::CreateConversionStmt(self.read_create_conversion_stmt(at)),
            250 => N::CreateCastStmt(self.read_create_cast_stmt(at)),
            251 => N::CreateTransformStmt(self.read_create_transform_stmt(at)),
            252 => N::PrepareStmt(Box::new(self.read_prepare_stmt(at))),
            253 => N::ExecuteStmt(self.read_execute_stmt(at)),
            254 => N::DeallocateStmt(self.read_deallocate_stmt(at)),
            255 => N::DropOwnedStmt(self.read_drop_owned_stmt(at)),
            256 => N::ReassignOwnedStmt(self.read_reassign_owned_stmt(at)),
            257 => N::AlterTsdictionaryStmt(self.read_alter_ts_dictionary_stmt(at)),
            258 => N::AlterTsconfigurationStmt(self.read_alter_ts_configuration_stmt(at)),
            259 => N::PublicationTable(Box::new(self.read_publication_table(at))),
            260 => N::PublicationObjSpec(Box::new(self.read_publication_obj_spec(at))),
            261 => N::CreatePublicationStmt(self.read_create_publication_stmt(at)),
            262 => N::AlterPublicationStmt(self.read_alter_publication_stmt(at)),
            263 => N::CreateSubscriptionStmt(self.read_create_subscription_stmt(at)),
            264 => N::AlterSubscriptionStmt(self.read_alter_subscription_stmt(at)),
            265 => N::DropSubscriptionStmt(self.read_drop_subscription_stmt(at)),
            _ => return self.stopped_by(Obstacle::Unknown(tag)),
        });
    }

    fn read_alias(&mut self, at: Place<'_>) -> p::Alias {
        p::Alias { aliasname: self.text(at.pointer(8)), colnames: self.items(at.pointer(16)) }
    }

    fn read_range_var(&mut self, at: Place<'_>) -> p::RangeVar {
        p::RangeVar {
            catalogname: self.text(at.pointer(8)),
            schemaname: self.text(at.pointer(16)),
            relname: self.text(at.pointer(24)),
            inh: at.bool(32),
            relpersistence: at.letter(33),
            alias: self.inner(at.pointer(40), Self::read_alias),
            location: at.i32(48),
        }
    }

    fn read_into_clause(&mut self, at: Place<'_>) -> p::IntoClause {
        p::IntoClause {
            rel: self.inner(at.pointer(8), Self::read_range_var),
            col_names: self.items(at.pointer(16)),
            access_method: self.text(at.pointer(24)),
            options: self.items(at.pointer(32)),
            on_commit: at.i32(40) + 1,
            table_space_name: self.text(at.pointer(48)),
            view_query: self.inner(at.pointer(56), Self::read_query).map(Box::new),
            skip_data: at.bool(64),
        }
    }

    fn read_grouping_func(&mut self, at: Place<'_>) -> p::GroupingFunc {
        p::GroupingFunc {
            args: self.items(at.pointer(8)),
            refs: self.items(at.pointer(16)),
            agglevelsup: at.u32(32),
            location: at.i32(36),
            xpr: None,
        }
    }

    fn read_merge_support_func(&mut self, at: Place<'_>) -> p::MergeSupportFunc {
        p::MergeSupportFunc { msftype: at.u32(4), msfcollid: at.u32(8), location: at.i32(12), xpr: None }
    }

    fn read_func_expr(&mut self, at: Place<'_>) -> p::FuncExpr {
        p::FuncExpr {
            funcid: at.u32(4),
            funcresulttype: at.u32(8),
            funcretset: at.bool(12),
            funcvariadic: at.bool(13),
            funcformat: at.i32(16) + 1,
            funccollid: at.u32(20),
            inputcollid: at.u32(24),
            args: self.items(at.pointer(32)),
            location: at.i32(40),
            xpr: None,
        }
    }

    fn read_named_arg_expr(&mut self, at: Place<'_>) -> p::NamedArgExpr {
        p::NamedArgExpr {
            arg: self.node(at.pointer(8)),
            name: self.text(at.pointer(16)),
            argnumber: at.i32(24),
            location: at.i32(28),
            xpr: None,
        }
    }

    fn read_bool_expr(&mut self, at: Place<'_>) -> p::BoolExpr {
        p::BoolExpr { boolop: at.i32(4) + 1, args: self.items(at.pointer(8)), location: at.i32(16), xpr: None }
    }

    fn read_sub_link(&mut self, at: Place<'_>) -> p::SubLink {
        p::SubLink {
            sub_link_type: at.i32(4) + 1,
            sub_link_id: at.i32(8),
            testexpr: self.node(at.pointer(16)),
            oper_name: self.items(at.pointer(24)),
            subselect: self.node(at.pointer(32)),
            location: at.i32(40),
            xpr: None,
        }
    }

    fn read_case_expr(&mut self, at: Place<'_>) -> p::CaseExpr {
        p::CaseExpr {
            casetype: at.u32(4),
            casecollid: at.u32(8),
            arg: self.node(at.pointer(16)),
            args: self.items(at.pointer(24)),
            defresult: self.node(at.pointer(32)),
            location: at.i32(40),
            xpr: None,
        }
    }

    fn read_case_when(&mut self, at: Place<'_>) -> p::CaseWhen {
        p::CaseWhen {
            expr: self.node(at.pointer(8)),
            result: self.node(at.pointer(16)),
            location: at.i32(24),
            xpr: None,
        }
    }

    fn read_row_expr(&mut self, at: Place<'_>) -> p::RowExpr {
        p::RowExpr {
            args: self.items(at.pointer(8)),
            row_typeid: at.u32(16),
            row_format: at.i32(20) + 1,
            colnames: self.items(at.pointer(24)),
            location: at.i32(32),
            xpr: None,
        }
    }

    fn read_coalesce_expr(&mut self, at: Place<'_>) -> p::CoalesceExpr {
        p::CoalesceExpr {
            coalescetype: at.u32(4),
            coalescecollid: at.u32(8),
            args: self.items(at.pointer(16)),
            location: at.i32(24),
            xpr: None,
        }
    }

    fn read_min_max_expr(&mut self, at: Place<'_>) -> p::MinMaxExpr {
        p::MinMaxExpr {
            minmaxtype: at.u32(4),
            minmaxcollid: at.u32(8),
            inputcollid: at.u32(12),
            op: at.i32(16) + 1,
            args: self.items(at.pointer(24)),
            location: at.i32(32),
            xpr: None,
        }
    }

    fn read_sql_value_function(&mut self, at: Place<'_>) -> p::SqlValueFunction {
        p::SqlValueFunction {
            op: at.i32(4) + 1,
            r#type: at.u32(8),
            typmod: at.i32(12),
            location: at.i32(16),
            xpr: None,
        }
    }

    fn read_xml_expr(&mut self, at: Place<'_>) -> p::XmlExpr {
        p::XmlExpr {
            op: at.i32(4) + 1,
            name: self.text(at.pointer(8)),
            named_args: self.items(at.pointer(16)),
            arg_names: self.items(at.pointer(24)),
            args: self.items(at.pointer(32)),
            xmloption: at.i32(40) + 1,
            indent: at.bool(44),
            r#type: at.u32(48),
            typmod: at.i32(52),
            location: at.i32(56),
            xpr: None,
        }
    }

    fn read_json_format(&mut self, at: Place<'_>) -> p::JsonFormat {
        p::JsonFormat { format_type: at.i32(4) + 1, encoding: at.i32(8) + 1, location: at.i32(12) }
    }

    fn read_json_returning(&mut self, at: Place<'_>) -> p::JsonReturning {
        p::JsonReturning {
            format: self.inner(at.pointer(8), Self::read_json_format),
            typid: at.u32(16),
            typmod: at.i32(20),
        }
    }

    fn read_json_value_expr(&mut self, at: Place<'_>) -> p::JsonValueExpr {
        p::JsonValueExpr {
            raw_expr: self.node(at.pointer(8)),
            formatted_expr: self.node(at.pointer(16)),
            format: self.inner(at.pointer(24), Self::read_json_format),
        }
    }

    fn read_json_is_predicate(&mut self, at: Place<'_>) -> p::JsonIsPredicate {
        p::JsonIsPredicate {
            expr: self.node(at.pointer(8)),
            format: self.inner(at.pointer(16), Self::read_json_format),
            item_type: at.i32(24) + 1,
            unique_keys: at.bool(28),
            location: at.i32(32),
        }
    }

    fn read_json_behavior(&mut self, at: Place<'_>) -> p::JsonBehavior {
        p::JsonBehavior {
            btype: at.i32(4) + 1,
            expr: self.node(at.pointer(8)),
            coerce: at.bool(16),
            location: at.i32(20),
        }
    }

    fn read_null_test(&mut self, at: Place<'_>) -> p::NullTest {
        p::NullTest {
            arg: self.node(at.pointer(8)),
            nulltesttype: at.i32(16) + 1,
            argisrow: at.bool(20),
            location: at.i32(24),
            xpr: None,
        }
    }

    fn read_boolean_test(&mut self, at: Place<'_>) -> p::BooleanTest {
        p::BooleanTest { arg: self.node(at.pointer(8)), booltesttype: at.i32(16) + 1, location: at.i32(20), xpr: None }
    }

    fn read_set_to_default(&mut self, at: Place<'_>) -> p::SetToDefault {
        p::SetToDefault {
            type_id: at.u32(4),
            type_mod: at.i32(8),
            collation: at.u32(12),
            location: at.i32(16),
            xpr: None,
        }
    }

    fn read_current_of_expr(&mut self, at: Place<'_>) -> p::CurrentOfExpr {
        p::CurrentOfExpr {
            cvarno: at.u32(4),
            cursor_name: self.text(at.pointer(8)),
            cursor_param: at.i32(16),
            xpr: None,
        }
    }

    fn read_join_expr(&mut self, at: Place<'_>) -> p::JoinExpr {
        p::JoinExpr {
            jointype: at.i32(4) + 1,
            is_natural: at.bool(8),
            larg: self.node(at.pointer(16)),
            rarg: self.node(at.pointer(24)),
            using_clause: self.items(at.pointer(32)),
            join_using_alias: self.inner(at.pointer(40), Self::read_alias),
            quals: self.node(at.pointer(48)),
            alias: self.inner(at.pointer(56), Self::read_alias),
            rtindex: at.i32(64),
        }
    }

    fn read_from_expr(&mut self, at: Place<'_>) -> p::FromExpr {
        p::FromExpr { fromlist: self.items(at.pointer(8)), quals: self.node(at.pointer(16)) }
    }

    fn read_on_conflict_expr(&mut self, at: Place<'_>) -> p::OnConflictExpr {
        p::OnConflictExpr {
            action: at.i32(4) + 1,
            arbiter_elems: self.items(at.pointer(8)),
            arbiter_where: self.node(at.pointer(16)),
            constraint: at.u32(24),
            on_conflict_set: self.items(at.pointer(32)),
            on_conflict_where: self.node(at.pointer(40)),
            excl_rel_index: at.i32(48),
            excl_rel_tlist: self.items(at.pointer(56)),
        }
    }

    fn read_query(&mut self, at: Place<'_>) -> p::Query {
        p::Query {
            command_type: at.i32(4) + 1,
            query_source: at.i32(8) + 1,
            can_set_tag: at.bool(24),
            utility_stmt: self.node(at.pointer(32)),
            result_relation: at.i32(40),
            has_aggs: at.bool(44),
            has_window_funcs: at.bool(45),
            has_target_srfs: at.bool(46),
            has_sub_links: at.bool(47),
            has_distinct_on: at.bool(48),
            has_recursive: at.bool(49),
            has_modifying_cte: at.bool(50),
            has_for_update: at.bool(51),
            has_row_security: at.bool(52),
            has_group_rte: at.bool(53),
            is_return: at.bool(54),
            cte_list: self.items(at.pointer(56)),
            rtable: self.items(at.pointer(64)),
            rteperminfos: self.items(at.pointer(72)),
            jointree: self.inner(at.pointer(80), Self::read_from_expr).map(Box::new),
            merge_action_list: self.items(at.pointer(88)),
            merge_target_relation: at.i32(96),
            merge_join_condition: self.node(at.pointer(104)),
            target_list: self.items(at.pointer(112)),
            r#override: at.i32(120) + 1,
            on_conflict: self.inner(at.pointer(128), Self::read_on_conflict_expr).map(Box::new),
            returning_old_alias: self.text(at.pointer(136)),
            returning_new_alias: self.text(at.pointer(144)),
            returning_list: self.items(at.pointer(152)),
            group_clause: self.items(at.pointer(160)),
            group_distinct: at.bool(168),
            grouping_sets: self.items(at.pointer(176)),
            having_qual: self.node(at.pointer(184)),
            window_clause: self.items(at.pointer(192)),
            distinct_clause: self.items(at.pointer(200)),
            sort_clause: self.items(at.pointer(208)),
            limit_offset: self.node(at.pointer(216)),
            limit_count: self.node(at.pointer(224)),
            limit_option: at.i32(232) + 1,
            row_marks: self.items(at.pointer(240)),
            set_operations: self.node(at.pointer(248)),
            constraint_deps: self.items(at.pointer(256)),
            with_check_options: self.items(at.pointer(264)),
            stmt_location: at.i32(272),
            stmt_len: at.i32(276),
        }
    }

    fn read_type_name(&mut self, at: Place<'_>) -> p::TypeName {
        p::TypeName {
            names: self.items(at.pointer(8)),
            type_oid: at.u32(16),
            setof: at.bool(20),
            pct_type: at.bool(21),
            typmods: self.items(at.pointer(24)),
            typemod: at.i32(32),
            array_bounds: self.items(at.pointer(40)),
            location: at.i32(48),
        }
    }

    fn read_column_ref(&mut self, at: Place<'_>) -> p::ColumnRef {
        p::ColumnRef { fields: self.items(at.pointer(8)), location: at.i32(16) }
    }

    fn read_param_ref(&mut self, at: Place<'_>) -> p::ParamRef {
        p::ParamRef { number: at.i32(4), location: at.i32(8) }
    }

    fn read_a_expr(&mut self, at: Place<'_>) -> p::AExpr {
        p::AExpr {
            kind: at.i32(4) + 1,
            name: self.items(at.pointer(8)),
            lexpr: self.node(at.pointer(16)),
            rexpr: self.node(at.pointer(24)),
            rexpr_list_start: at.i32(32),
            rexpr_list_end: at.i32(36),
            location: at.i32(40),
        }
    }

    fn read_type_cast(&mut self, at: Place<'_>) -> p::TypeCast {
        p::TypeCast {
            arg: self.node(at.pointer(8)),
            type_name: self.inner(at.pointer(16), Self::read_type_name),
            location: at.i32(24),
        }
    }

    fn read_collate_clause(&mut self, at: Place<'_>) -> p::CollateClause {
        p::CollateClause { arg: self.node(at.pointer(8)), collname: self.items(at.pointer(16)), location: at.i32(24) }
    }

    fn read_role_spec(&mut self, at: Place<'_>) -> p::RoleSpec {
        p::RoleSpec { roletype: at.i32(4) + 1, rolename: self.text(at.pointer(8)), location: at.i32(16) }
    }

    fn read_func_call(&mut self, at: Place<'_>) -> p::FuncCall {
        p::FuncCall {
            funcname: self.items(at.pointer(8)),
            args: self.items(at.pointer(16)),
            agg_order: self.items(at.pointer(24)),
            agg_filter: self.node(at.pointer(32)),
            over: self.inner(at.pointer(40), Self::read_window_def).map(Box::new),
            agg_within_group: at.bool(48),
            agg_star: at.bool(49),
            agg_distinct: at.bool(50),
            func_variadic: at.bool(51),
            funcformat: at.i32(52) + 1,
            location: at.i32(56),
        }
    }

    fn read_a_star(&mut self, _: Place<'_>) -> p::AStar {
        p::AStar {}
    }

    fn read_a_indices(&mut self, at: Place<'_>) -> p::AIndices {
        p::AIndices { is_slice: at.bool(4), lidx: self.node(at.pointer(8)), uidx: self.node(at.pointer(16)) }
    }

    fn read_a_indirection(&mut self, at: Place<'_>) -> p::AIndirection {
        p::AIndirection { arg: self.node(at.pointer(8)), indirection: self.items(at.pointer(16)) }
    }

    fn read_a_array_expr(&mut self, at: Place<'_>) -> p::AArrayExpr {
        p::AArrayExpr {
            elements: self.items(at.pointer(8)),
            list_start: at.i32(16),
            list_end: at.i32(20),
            location: at.i32(24),
        }
    }

    fn read_res_target(&mut self, at: Place<'_>) -> p::ResTarget {
        p::ResTarget {
            name: self.text(at.pointer(8)),
            indirection: self.items(at.pointer(16)),
            val: self.node(at.pointer(24)),
            location: at.i32(32),
        }
    }

    fn read_multi_assign_ref(&mut self, at: Place<'_>) -> p::MultiAssignRef {
        p::MultiAssignRef { source: self.node(at.pointer(8)), colno: at.i32(16), ncolumns: at.i32(20) }
    }

    fn read_sort_by(&mut self, at: Place<'_>) -> p::SortBy {
        p::SortBy {
            node: self.node(at.pointer(8)),
            sortby_dir: at.i32(16) + 1,
            sortby_nulls: at.i32(20) + 1,
            use_op: self.items(at.pointer(24)),
            location: at.i32(32),
        }
    }

    fn read_window_def(&mut self, at: Place<'_>) -> p::WindowDef {
        p::WindowDef {
            name: self.text(at.pointer(8)),
            refname: self.text(at.pointer(16)),
            partition_clause: self.items(at.pointer(24)),
            order_clause: self.items(at.pointer(32)),
            frame_options: at.i32(40),
            start_offset: self.node(at.pointer(48)),
            end_offset: self.node(at.pointer(56)),
            location: at.i32(64),
        }
    }

    fn read_range_subselect(&mut self, at: Place<'_>) -> p::RangeSubselect {
        p::RangeSubselect {
            lateral: at.bool(4),
            subquery: self.node(at.pointer(8)),
            alias: self.inner(at.pointer(16), Self::read_alias),
        }
    }

    fn read_range_function(&mut self, at: Place<'_>) -> p::RangeFunction {
        p::RangeFunction {
            lateral: at.bool(4),
            ordinality: at.bool(5),
            is_rowsfrom: at.bool(6),
            functions: self.items(at.pointer(8)),
            alias: self.inner(at.pointer(16), Self::read_alias),
            coldeflist: self.items(at.pointer(24)),
        }
    }

    fn read_range_table_func(&mut self, at: Place<'_>) -> p::RangeTableFunc {
        p::RangeTableFunc {
            lateral: at.bool(4),
            docexpr: self.node(at.pointer(8)),
            rowexpr: self.node(at.pointer(16)),
            namespaces: self.items(at.pointer(24)),
            columns: self.items(at.pointer(32)),
            alias: self.inner(at.pointer(40), Self::read_alias),
            location: at.i32(48),
        }
    }

    fn read_range_table_func_col(&mut self, at: Place<'_>) -> p::RangeTableFuncCol {
        p::RangeTableFuncCol {
            colname: self.text(at.pointer(8)),
            type_name: self.inner(at.pointer(16), Self::read_type_name),
            for_ordinality: at.bool(24),
            is_not_null: at.bool(25),
            colexpr: self.node(at.pointer(32)),
            coldefexpr: self.node(at.pointer(40)),
            location: at.i32(48),
        }
    }

    fn read_range_table_sample(&mut self, at: Place<'_>) -> p::RangeTableSample {
        p::RangeTableSample {
            relation: self.node(at.pointer(8)),
            method: self.items(at.pointer(16)),
            args: self.items(at.pointer(24)),
            repeatable: self.node(at.pointer(32)),
            location: at.i32(40),
        }
    }

    fn read_column_def(&mut self, at: Place<'_>) -> p::ColumnDef {
        p::ColumnDef {
            colname: self.text(at.pointer(8)),
            type_name: self.inner(at.pointer(16), Self::read_type_name),
            compression: self.text(at.pointer(24)),
            inhcount: i32::from(at.i16(32)),
            is_local: at.bool(34),
            is_not_null: at.bool(35),
            is_from_type: at.bool(36),
            storage: at.letter(37),
            storage_name: self.text(at.pointer(40)),
            raw_default: self.node(at.pointer(48)),
            cooked_default: self.node(at.pointer(56)),
            identity: at.letter(64),
            identity_sequence: self.inner(at.pointer(72), Self::read_range_var),
            generated: at.letter(80),
            coll_clause: self.inner(at.pointer(88), Self::read_collate_clause).map(Box::new),
            coll_oid: at.u32(96),
            constraints: self.items(at.pointer(104)),
            fdwoptions: self.items(at.pointer(112)),
            location: at.i32(120),
        }
    }

    fn read_table_like_clause(&mut self, at: Place<'_>) -> p::TableLikeClause {
        p::TableLikeClause {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            options: at.u32(16),
            relation_oid: at.u32(20),
        }
    }

    fn read_index_elem(&mut self, at: Place<'_>) -> p::IndexElem {
        p::IndexElem {
            name: self.text(at.pointer(8)),
            expr: self.node(at.pointer(16)),
            indexcolname: self.text(at.pointer(24)),
            collation: self.items(at.pointer(32)),
            opclass: self.items(at.pointer(40)),
            opclassopts: self.items(at.pointer(48)),
            ordering: at.i32(56) + 1,
            nulls_ordering: at.i32(60) + 1,
        }
    }

    fn read_def_elem(&mut self, at: Place<'_>) -> p::DefElem {
        p::DefElem {
            defnamespace: self.text(at.pointer(8)),
            defname: self.text(at.pointer(16)),
            arg: self.node(at.pointer(24)),
            defaction: at.i32(32) + 1,
            location: at.i32(36),
            arg_location: at.i32(40),
        }
    }

    fn read_locking_clause(&mut self, at: Place<'_>) -> p::LockingClause {
        p::LockingClause {
            locked_rels: self.items(at.pointer(8)),
            strength: at.i32(16) + 1,
            wait_policy: at.i32(20) + 1,
        }
    }

    fn read_xml_serialize(&mut self, at: Place<'_>) -> p::XmlSerialize {
        p::XmlSerialize {
            xmloption: at.i32(4) + 1,
            expr: self.node(at.pointer(8)),
            type_name: self.inner(at.pointer(16), Self::read_type_name),
            indent: at.bool(24),
            location: at.i32(28),
        }
    }

    fn read_partition_elem(&mut self, at: Place<'_>) -> p::PartitionElem {
        p::PartitionElem {
            name: self.text(at.pointer(8)),
            expr: self.node(at.pointer(16)),
            collation: self.items(at.pointer(24)),
            opclass: self.items(at.pointer(32)),
            location: at.i32(40),
        }
    }

    fn read_partition_spec(&mut self, at: Place<'_>) -> p::PartitionSpec {
        p::PartitionSpec {
            strategy: partition_strategy(at.i32(4)),
            part_params: self.items(at.pointer(8)),
            location: at.i32(16),
        }
    }

    fn read_partition_bound_spec(&mut self, at: Place<'_>) -> p::PartitionBoundSpec {
        p::PartitionBoundSpec {
            strategy: at.letter(4),
            is_default: at.bool(5),
            modulus: at.i32(8),
            remainder: at.i32(12),
            listdatums: self.items(at.pointer(16)),
            lowerdatums: self.items(at.pointer(24)),
            upperdatums: self.items(at.pointer(32)),
            location: at.i32(40),
        }
    }

    fn read_partition_cmd(&mut self, at: Place<'_>) -> p::PartitionCmd {
        p::PartitionCmd {
            name: self.inner(at.pointer(8), Self::read_range_var),
            bound: self.inner(at.pointer(16), Self::read_partition_bound_spec),
            concurrent: at.bool(24),
        }
    }

    fn read_grouping_set(&mut self, at: Place<'_>) -> p::GroupingSet {
        p::GroupingSet { kind: at.i32(4) + 1, content: self.items(at.pointer(8)), location: at.i32(16) }
    }

    fn read_with_clause(&mut self, at: Place<'_>) -> p::WithClause {
        p::WithClause { ctes: self.items(at.pointer(8)), recursive: at.bool(16), location: at.i32(20) }
    }

    fn read_infer_clause(&mut self, at: Place<'_>) -> p::InferClause {
        p::InferClause {
            index_elems: self.items(at.pointer(8)),
            where_clause: self.node(at.pointer(16)),
            conname: self.text(at.pointer(24)),
            location: at.i32(32),
        }
    }

    fn read_on_conflict_clause(&mut self, at: Place<'_>) -> p::OnConflictClause {
        p::OnConflictClause {
            action: at.i32(4) + 1,
            infer: self.inner(at.pointer(8), Self::read_infer_clause).map(Box::new),
            target_list: self.items(at.pointer(16)),
            where_clause: self.node(at.pointer(24)),
            location: at.i32(32),
        }
    }

    fn read_cte_search_clause(&mut self, at: Place<'_>) -> p::CteSearchClause {
        p::CteSearchClause {
            search_col_list: self.items(at.pointer(8)),
            search_breadth_first: at.bool(16),
            search_seq_column: self.text(at.pointer(24)),
            location: at.i32(32),
        }
    }

    fn read_cte_cycle_clause(&mut self, at: Place<'_>) -> p::CteCycleClause {
        p::CteCycleClause {
            cycle_col_list: self.items(at.pointer(8)),
            cycle_mark_column: self.text(at.pointer(16)),
            cycle_mark_value: self.node(at.pointer(24)),
            cycle_mark_default: self.node(at.pointer(32)),
            cycle_path_column: self.text(at.pointer(40)),
            location: at.i32(48),
            cycle_mark_type: at.u32(52),
            cycle_mark_typmod: at.i32(56),
            cycle_mark_collation: at.u32(60),
            cycle_mark_neop: at.u32(64),
        }
    }

    fn read_common_table_expr(&mut self, at: Place<'_>) -> p::CommonTableExpr {
        p::CommonTableExpr {
            ctename: self.text(at.pointer(8)),
            aliascolnames: self.items(at.pointer(16)),
            ctematerialized: at.i32(24) + 1,
            ctequery: self.node(at.pointer(32)),
            search_clause: self.inner(at.pointer(40), Self::read_cte_search_clause),
            cycle_clause: self.inner(at.pointer(48), Self::read_cte_cycle_clause).map(Box::new),
            location: at.i32(56),
            cterecursive: at.bool(60),
            cterefcount: at.i32(64),
            ctecolnames: self.items(at.pointer(72)),
            ctecoltypes: self.items(at.pointer(80)),
            ctecoltypmods: self.items(at.pointer(88)),
            ctecolcollations: self.items(at.pointer(96)),
        }
    }

    fn read_merge_when_clause(&mut self, at: Place<'_>) -> p::MergeWhenClause {
        p::MergeWhenClause {
            match_kind: at.i32(4) + 1,
            command_type: at.i32(8) + 1,
            r#override: at.i32(12) + 1,
            condition: self.node(at.pointer(16)),
            target_list: self.items(at.pointer(24)),
            values: self.items(at.pointer(32)),
        }
    }

    fn read_returning_option(&mut self, at: Place<'_>) -> p::ReturningOption {
        p::ReturningOption { option: at.i32(4) + 1, value: self.text(at.pointer(8)), location: at.i32(16) }
    }

    fn read_returning_clause(&mut self, at: Place<'_>) -> p::ReturningClause {
        p::ReturningClause { options: self.items(at.pointer(8)), exprs: self.items(at.pointer(16)) }
    }

    fn read_trigger_transition(&mut self, at: Place<'_>) -> p::TriggerTransition {
        p::TriggerTransition { name: self.text(at.pointer(8)), is_new: at.bool(16), is_table: at.bool(17) }
    }

    fn read_json_output(&mut self, at: Place<'_>) -> p::JsonOutput {
        p::JsonOutput {
            type_name: self.inner(at.pointer(8), Self::read_type_name),
            returning: self.inner(at.pointer(16), Self::read_json_returning),
        }
    }

    fn read_json_argument(&mut self, at: Place<'_>) -> p::JsonArgument {
        p::JsonArgument {
            val: self.inner(at.pointer(8), Self::read_json_value_expr).map(Box::new),
            name: self.text(at.pointer(16)),
        }
    }

    fn read_json_func_expr(&mut self, at: Place<'_>) -> p::JsonFuncExpr {
        p::JsonFuncExpr {
            op: at.i32(4) + 1,
            column_name: self.text(at.pointer(8)),
            context_item: self.inner(at.pointer(16), Self::read_json_value_expr).map(Box::new),
            pathspec: self.node(at.pointer(24)),
            passing: self.items(at.pointer(32)),
            output: self.inner(at.pointer(40), Self::read_json_output),
            on_empty: self.inner(at.pointer(48), Self::read_json_behavior).map(Box::new),
            on_error: self.inner(at.pointer(56), Self::read_json_behavior).map(Box::new),
            wrapper: at.i32(64) + 1,
            quotes: at.i32(68) + 1,
            location: at.i32(72),
        }
    }

    fn read_json_table_path_spec(&mut self, at: Place<'_>) -> p::JsonTablePathSpec {
        p::JsonTablePathSpec {
            string: self.node(at.pointer(8)),
            name: self.text(at.pointer(16)),
            name_location: at.i32(24),
            location: at.i32(28),
        }
    }

    fn read_json_table(&mut self, at: Place<'_>) -> p::JsonTable {
        p::JsonTable {
            context_item: self.inner(at.pointer(8), Self::read_json_value_expr).map(Box::new),
            pathspec: self.inner(at.pointer(16), Self::read_json_table_path_spec).map(Box::new),
            passing: self.items(at.pointer(24)),
            columns: self.items(at.pointer(32)),
            on_error: self.inner(at.pointer(40), Self::read_json_behavior).map(Box::new),
            alias: self.inner(at.pointer(48), Self::read_alias),
            lateral: at.bool(56),
            location: at.i32(60),
        }
    }

    fn read_json_table_column(&mut self, at: Place<'_>) -> p::JsonTableColumn {
        p::JsonTableColumn {
            coltype: at.i32(4) + 1,
            name: self.text(at.pointer(8)),
            type_name: self.inner(at.pointer(16), Self::read_type_name),
            pathspec: self.inner(at.pointer(24), Self::read_json_table_path_spec).map(Box::new),
            format: self.inner(at.pointer(32), Self::read_json_format),
            wrapper: at.i32(40) + 1,
            quotes: at.i32(44) + 1,
            columns: self.items(at.pointer(48)),
            on_empty: self.inner(at.pointer(56), Self::read_json_behavior).map(Box::new),
            on_error: self.inner(at.pointer(64), Self::read_json_behavior).map(Box::new),
            location: at.i32(72),
        }
    }

    fn read_json_key_value(&mut self, at: Place<'_>) -> p::JsonKeyValue {
        p::JsonKeyValue {
            key: self.node(at.pointer(8)),
            value: self.inner(at.pointer(16), Self::read_json_value_expr).map(Box::new),
        }
    }

    fn read_json_parse_expr(&mut self, at: Place<'_>) -> p::JsonParseExpr {
        p::JsonParseExpr {
            expr: self.inner(at.pointer(8), Self::read_json_value_expr).map(Box::new),
            output: self.inner(at.pointer(16), Self::read_json_output),
            unique_keys: at.bool(24),
            location: at.i32(28),
        }
    }

    fn read_json_scalar_expr(&mut self, at: Place<'_>) -> p::JsonScalarExpr {
        p::JsonScalarExpr {
            expr: self.node(at.pointer(8)),
            output: self.inner(at.pointer(16), Self::read_json_output),
            location: at.i32(24),
        }
    }

    fn read_json_serialize_expr(&mut self, at: Place<'_>) -> p::JsonSerializeExpr {
        p::JsonSerializeExpr {
            expr: self.inner(at.pointer(8), Self::read_json_value_expr).map(Box::new),
            output: self.inner(at.pointer(16), Self::read_json_output),
            location: at.i32(24),
        }
    }

    fn read_json_object_constructor(&mut self, at: Place<'_>) -> p::JsonObjectConstructor {
        p::JsonObjectConstructor {
            exprs: self.items(at.pointer(8)),
            output: self.inner(at.pointer(16), Self::read_json_output),
            absent_on_null: at.bool(24),
            unique: at.bool(25),
            location: at.i32(28),
        }
    }

    fn read_json_array_constructor(&mut self, at: Place<'_>) -> p::JsonArrayConstructor {
        p::JsonArrayConstructor {
            exprs: self.items(at.pointer(8)),
            output: self.inner(at.pointer(16), Self::read_json_output),
            absent_on_null: at.bool(24),
            location: at.i32(28),
        }
    }

    fn read_json_array_query_constructor(&mut self, at: Place<'_>) -> p::JsonArrayQueryConstructor {
        p::JsonArrayQueryConstructor {
            query: self.node(at.pointer(8)),
            output: self.inner(at.pointer(16), Self::read_json_output),
            format: self.inner(at.pointer(24), Self::read_json_format),
            absent_on_null: at.bool(32),
            location: at.i32(36),
        }
    }

    fn read_json_agg_constructor(&mut self, at: Place<'_>) -> p::JsonAggConstructor {
        p::JsonAggConstructor {
            output: self.inner(at.pointer(8), Self::read_json_output),
            agg_filter: self.node(at.pointer(16)),
            agg_order: self.items(at.pointer(24)),
            over: self.inner(at.pointer(32), Self::read_window_def).map(Box::new),
            location: at.i32(40),
        }
    }

    fn read_json_object_agg(&mut self, at: Place<'_>) -> p::JsonObjectAgg {
        p::JsonObjectAgg {
            constructor: self.inner(at.pointer(8), Self::read_json_agg_constructor).map(Box::new),
            arg: self.inner(at.pointer(16), Self::read_json_key_value).map(Box::new),
            absent_on_null: at.bool(24),
            unique: at.bool(25),
        }
    }

    fn read_json_array_agg(&mut self, at: Place<'_>) -> p::JsonArrayAgg {
        p::JsonArrayAgg {
            constructor: self.inner(at.pointer(8), Self::read_json_agg_constructor).map(Box::new),
            arg: self.inner(at.pointer(16), Self::read_json_value_expr).map(Box::new),
            absent_on_null: at.bool(24),
        }
    }

    fn read_raw_stmt(&mut self, at: Place<'_>) -> p::RawStmt {
        p::RawStmt { stmt: self.node(at.pointer(8)), stmt_location: at.i32(16), stmt_len: at.i32(20) }
    }

    fn read_insert_stmt(&mut self, at: Place<'_>) -> p::InsertStmt {
        p::InsertStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            cols: self.items(at.pointer(16)),
            select_stmt: self.node(at.pointer(24)),
            on_conflict_clause: self.inner(at.pointer(32), Self::read_on_conflict_clause).map(Box::new),
            returning_clause: self.inner(at.pointer(40), Self::read_returning_clause),
            with_clause: self.inner(at.pointer(48), Self::read_with_clause),
            r#override: at.i32(56) + 1,
        }
    }

    fn read_delete_stmt(&mut self, at: Place<'_>) -> p::DeleteStmt {
        p::DeleteStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            using_clause: self.items(at.pointer(16)),
            where_clause: self.node(at.pointer(24)),
            returning_clause: self.inner(at.pointer(32), Self::read_returning_clause),
            with_clause: self.inner(at.pointer(40), Self::read_with_clause),
        }
    }

    fn read_update_stmt(&mut self, at: Place<'_>) -> p::UpdateStmt {
        p::UpdateStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            target_list: self.items(at.pointer(16)),
            where_clause: self.node(at.pointer(24)),
            from_clause: self.items(at.pointer(32)),
            returning_clause: self.inner(at.pointer(40), Self::read_returning_clause),
            with_clause: self.inner(at.pointer(48), Self::read_with_clause),
        }
    }

    fn read_merge_stmt(&mut self, at: Place<'_>) -> p::MergeStmt {
        p::MergeStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            source_relation: self.node(at.pointer(16)),
            join_condition: self.node(at.pointer(24)),
            merge_when_clauses: self.items(at.pointer(32)),
            returning_clause: self.inner(at.pointer(40), Self::read_returning_clause),
            with_clause: self.inner(at.pointer(48), Self::read_with_clause),
        }
    }

    fn read_select_stmt(&mut self, at: Place<'_>) -> p::SelectStmt {
        p::SelectStmt {
            distinct_clause: self.items(at.pointer(8)),
            into_clause: self.inner(at.pointer(16), Self::read_into_clause).map(Box::new),
            target_list: self.items(at.pointer(24)),
            from_clause: self.items(at.pointer(32)),
            where_clause: self.node(at.pointer(40)),
            group_clause: self.items(at.pointer(48)),
            group_distinct: at.bool(56),
            having_clause: self.node(at.pointer(64)),
            window_clause: self.items(at.pointer(72)),
            values_lists: self.items(at.pointer(80)),
            sort_clause: self.items(at.pointer(88)),
            limit_offset: self.node(at.pointer(96)),
            limit_count: self.node(at.pointer(104)),
            limit_option: at.i32(112) + 1,
            locking_clause: self.items(at.pointer(120)),
            with_clause: self.inner(at.pointer(128), Self::read_with_clause),
            op: at.i32(136) + 1,
            all: at.bool(140),
            larg: self.inner(at.pointer(144), Self::read_select_stmt).map(Box::new),
            rarg: self.inner(at.pointer(152), Self::read_select_stmt).map(Box::new),
        }
    }

    fn read_return_stmt(&mut self, at: Place<'_>) -> p::ReturnStmt {
        p::ReturnStmt { returnval: self.node(at.pointer(8)) }
    }

    fn read_pl_assign_stmt(&mut self, at: Place<'_>) -> p::PlAssignStmt {
        p::PlAssignStmt {
            name: self.text(at.pointer(8)),
            indirection: self.items(at.pointer(16)),
            nnames: at.i32(24),
            val: self.inner(at.pointer(32), Self::read_select_stmt).map(Box::new),
            location: at.i32(40),
        }
    }

    fn read_create_schema_stmt(&mut self, at: Place<'_>) -> p::CreateSchemaStmt {
        p::CreateSchemaStmt {
            schemaname: self.text(at.pointer(8)),
            authrole: self.inner(at.pointer(16), Self::read_role_spec),
            schema_elts: self.items(at.pointer(24)),
            if_not_exists: at.bool(32),
        }
    }

    fn read_alter_table_stmt(&mut self, at: Place<'_>) -> p::AlterTableStmt {
        p::AlterTableStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            cmds: self.items(at.pointer(16)),
            objtype: at.i32(24) + 1,
            missing_ok: at.bool(28),
        }
    }

    fn read_alter_table_cmd(&mut self, at: Place<'_>) -> p::AlterTableCmd {
        p::AlterTableCmd {
            subtype: at.i32(4) + 1,
            name: self.text(at.pointer(8)),
            num: i32::from(at.i16(16)),
            newowner: self.inner(at.pointer(24), Self::read_role_spec),
            def: self.node(at.pointer(32)),
            behavior: at.i32(40) + 1,
            missing_ok: at.bool(44),
            recurse: at.bool(45),
        }
    }

    fn read_at_alter_constraint(&mut self, at: Place<'_>) -> p::AtAlterConstraint {
        p::AtAlterConstraint {
            conname: self.text(at.pointer(8)),
            alter_enforceability: at.bool(16),
            is_enforced: at.bool(17),
            alter_deferrability: at.bool(18),
            deferrable: at.bool(19),
            initdeferred: at.bool(20),
            alter_inheritability: at.bool(21),
            noinherit: at.bool(22),
        }
    }

    fn read_replica_identity_stmt(&mut self, at: Place<'_>) -> p::ReplicaIdentityStmt {
        p::ReplicaIdentityStmt { identity_type: at.letter(4), name: self.text(at.pointer(8)) }
    }

    fn read_alter_collation_stmt(&mut self, at: Place<'_>) -> p::AlterCollationStmt {
        p::AlterCollationStmt { collname: self.items(at.pointer(8)) }
    }

    fn read_alter_domain_stmt(&mut self, at: Place<'_>) -> p::AlterDomainStmt {
        p::AlterDomainStmt {
            subtype: at.letter(4),
            type_name: self.items(at.pointer(8)),
            name: self.text(at.pointer(16)),
            def: self.node(at.pointer(24)),
            behavior: at.i32(32) + 1,
            missing_ok: at.bool(36),
        }
    }

    fn read_grant_stmt(&mut self, at: Place<'_>) -> p::GrantStmt {
        p::GrantStmt {
            is_grant: at.bool(4),
            targtype: at.i32(8) + 1,
            objtype: at.i32(12) + 1,
            objects: self.items(at.pointer(16)),
            privileges: self.items(at.pointer(24)),
            grantees: self.items(at.pointer(32)),
            grant_option: at.bool(40),
            grantor: self.inner(at.pointer(48), Self::read_role_spec),
            behavior: at.i32(56) + 1,
        }
    }

    fn read_object_with_args(&mut self, at: Place<'_>) -> p::ObjectWithArgs {
        p::ObjectWithArgs {
            objname: self.items(at.pointer(8)),
            objargs: self.items(at.pointer(16)),
            objfuncargs: self.items(at.pointer(24)),
            args_unspecified: at.bool(32),
        }
    }

    fn read_access_priv(&mut self, at: Place<'_>) -> p::AccessPriv {
        p::AccessPriv { priv_name: self.text(at.pointer(8)), cols: self.items(at.pointer(16)) }
    }

    fn read_grant_role_stmt(&mut self, at: Place<'_>) -> p::GrantRoleStmt {
        p::GrantRoleStmt {
            granted_roles: self.items(at.pointer(8)),
            grantee_roles: self.items(at.pointer(16)),
            is_grant: at.bool(24),
            opt: self.items(at.pointer(32)),
            grantor: self.inner(at.pointer(40), Self::read_role_spec),
            behavior: at.i32(48) + 1,
        }
    }

    fn read_alter_default_privileges_stmt(&mut self, at: Place<'_>) -> p::AlterDefaultPrivilegesStmt {
        p::AlterDefaultPrivilegesStmt {
            options: self.items(at.pointer(8)),
            action: self.inner(at.pointer(16), Self::read_grant_stmt),
        }
    }

    fn read_copy_stmt(&mut self, at: Place<'_>) -> p::CopyStmt {
        p::CopyStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            query: self.node(at.pointer(16)),
            attlist: self.items(at.pointer(24)),
            is_from: at.bool(32),
            is_program: at.bool(33),
            filename: self.text(at.pointer(40)),
            options: self.items(at.pointer(48)),
            where_clause: self.node(at.pointer(56)),
        }
    }

    fn read_variable_set_stmt(&mut self, at: Place<'_>) -> p::VariableSetStmt {
        p::VariableSetStmt {
            kind: at.i32(4) + 1,
            name: self.text(at.pointer(8)),
            args: self.items(at.pointer(16)),
            jumble_args: at.bool(24),
            is_local: at.bool(25),
            location: at.i32(28),
        }
    }

    fn read_variable_show_stmt(&mut self, at: Place<'_>) -> p::VariableShowStmt {
        p::VariableShowStmt { name: self.text(at.pointer(8)) }
    }

    fn read_create_stmt(&mut self, at: Place<'_>) -> p::CreateStmt {
        p::CreateStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            table_elts: self.items(at.pointer(16)),
            inh_relations: self.items(at.pointer(24)),
            partbound: self.inner(at.pointer(32), Self::read_partition_bound_spec),
            partspec: self.inner(at.pointer(40), Self::read_partition_spec),
            of_typename: self.inner(at.pointer(48), Self::read_type_name),
            constraints: self.items(at.pointer(56)),
            nnconstraints: self.items(at.pointer(64)),
            options: self.items(at.pointer(72)),
            oncommit: at.i32(80) + 1,
            tablespacename: self.text(at.pointer(88)),
            access_method: self.text(at.pointer(96)),
            if_not_exists: at.bool(104),
        }
    }

    fn read_constraint(&mut self, at: Place<'_>) -> p::Constraint {
        p::Constraint {
            contype: at.i32(4) + 1,
            conname: self.text(at.pointer(8)),
            deferrable: at.bool(16),
            initdeferred: at.bool(17),
            is_enforced: at.bool(18),
            skip_validation: at.bool(19),
            initially_valid: at.bool(20),
            is_no_inherit: at.bool(21),
            raw_expr: self.node(at.pointer(24)),
            cooked_expr: self.text(at.pointer(32)),
            generated_when: at.letter(40),
            generated_kind: at.letter(41),
            nulls_not_distinct: at.bool(42),
            keys: self.items(at.pointer(48)),
            without_overlaps: at.bool(56),
            including: self.items(at.pointer(64)),
            exclusions: self.items(at.pointer(72)),
            options: self.items(at.pointer(80)),
            indexname: self.text(at.pointer(88)),
            indexspace: self.text(at.pointer(96)),
            reset_default_tblspc: at.bool(104),
            access_method: self.text(at.pointer(112)),
            where_clause: self.node(at.pointer(120)),
            pktable: self.inner(at.pointer(128), Self::read_range_var),
            fk_attrs: self.items(at.pointer(136)),
            pk_attrs: self.items(at.pointer(144)),
            fk_with_period: at.bool(152),
            pk_with_period: at.bool(153),
            fk_matchtype: at.letter(154),
            fk_upd_action: at.letter(155),
            fk_del_action: at.letter(156),
            fk_del_set_cols: self.items(at.pointer(160)),
            old_conpfeqop: self.items(at.pointer(168)),
            old_pktable_oid: at.u32(176),
            location: at.i32(180),
        }
    }

    fn read_create_table_space_stmt(&mut self, at: Place<'_>) -> p::CreateTableSpaceStmt {
        p::CreateTableSpaceStmt {
            tablespacename: self.text(at.pointer(8)),
            owner: self.inner(at.pointer(16), Self::read_role_spec),
            location: self.text(at.pointer(24)),
            options: self.items(at.pointer(32)),
        }
    }

    fn read_drop_table_space_stmt(&mut self, at: Place<'_>) -> p::DropTableSpaceStmt {
        p::DropTableSpaceStmt { tablespacename: self.text(at.pointer(8)), missing_ok: at.bool(16) }
    }

    fn read_alter_table_space_options_stmt(&mut self, at: Place<'_>) -> p::AlterTableSpaceOptionsStmt {
        p::AlterTableSpaceOptionsStmt {
            tablespacename: self.text(at.pointer(8)),
            options: self.items(at.pointer(16)),
            is_reset: at.bool(24),
        }
    }

    fn read_alter_table_move_all_stmt(&mut self, at: Place<'_>) -> p::AlterTableMoveAllStmt {
        p::AlterTableMoveAllStmt {
            orig_tablespacename: self.text(at.pointer(8)),
            objtype: at.i32(16) + 1,
            roles: self.items(at.pointer(24)),
            new_tablespacename: self.text(at.pointer(32)),
            nowait: at.bool(40),
        }
    }

    fn read_create_extension_stmt(&mut self, at: Place<'_>) -> p::CreateExtensionStmt {
        p::CreateExtensionStmt {
            extname: self.text(at.pointer(8)),
            if_not_exists: at.bool(16),
            options: self.items(at.pointer(24)),
        }
    }

    fn read_alter_extension_stmt(&mut self, at: Place<'_>) -> p::AlterExtensionStmt {
        p::AlterExtensionStmt { extname: self.text(at.pointer(8)), options: self.items(at.pointer(16)) }
    }

    fn read_alter_extension_contents_stmt(&mut self, at: Place<'_>) -> p::AlterExtensionContentsStmt {
        p::AlterExtensionContentsStmt {
            extname: self.text(at.pointer(8)),
            action: at.i32(16),
            objtype: at.i32(20) + 1,
            object: self.node(at.pointer(24)),
        }
    }

    fn read_create_fdw_stmt(&mut self, at: Place<'_>) -> p::CreateFdwStmt {
        p::CreateFdwStmt {
            fdwname: self.text(at.pointer(8)),
            func_options: self.items(at.pointer(16)),
            options: self.items(at.pointer(24)),
        }
    }

    fn read_alter_fdw_stmt(&mut self, at: Place<'_>) -> p::AlterFdwStmt {
        p::AlterFdwStmt {
            fdwname: self.text(at.pointer(8)),
            func_options: self.items(at.pointer(16)),
            options: self.items(at.pointer(24)),
        }
    }

    fn read_create_foreign_server_stmt(&mut self, at: Place<'_>) -> p::CreateForeignServerStmt {
        p::CreateForeignServerStmt {
            servername: self.text(at.pointer(8)),
            servertype: self.text(at.pointer(16)),
            version: self.text(at.pointer(24)),
            fdwname: self.text(at.pointer(32)),
            if_not_exists: at.bool(40),
            options: self.items(at.pointer(48)),
        }
    }

    fn read_alter_foreign_server_stmt(&mut self, at: Place<'_>) -> p::AlterForeignServerStmt {
        p::AlterForeignServerStmt {
            servername: self.text(at.pointer(8)),
            version: self.text(at.pointer(16)),
            options: self.items(at.pointer(24)),
            has_version: at.bool(32),
        }
    }

    fn read_create_foreign_table_stmt(&mut self, at: Place<'_>) -> p::CreateForeignTableStmt {
        p::CreateForeignTableStmt {
            base_stmt: self.inner(Some(at.within(0)), Self::read_create_stmt),
            servername: self.text(at.pointer(112)),
            options: self.items(at.pointer(120)),
        }
    }

    fn read_create_user_mapping_stmt(&mut self, at: Place<'_>) -> p::CreateUserMappingStmt {
        p::CreateUserMappingStmt {
            user: self.inner(at.pointer(8), Self::read_role_spec),
            servername: self.text(at.pointer(16)),
            if_not_exists: at.bool(24),
            options: self.items(at.pointer(32)),
        }
    }

    fn read_alter_user_mapping_stmt(&mut self, at: Place<'_>) -> p::AlterUserMappingStmt {
        p::AlterUserMappingStmt {
            user: self.inner(at.pointer(8), Self::read_role_spec),
            servername: self.text(at.pointer(16)),
            options: self.items(at.pointer(24)),
        }
    }

    fn read_drop_user_mapping_stmt(&mut self, at: Place<'_>) -> p::DropUserMappingStmt {
        p::DropUserMappingStmt {
            user: self.inner(at.pointer(8), Self::read_role_spec),
            servername: self.text(at.pointer(16)),
            missing_ok: at.bool(24),
        }
    }

    fn read_import_foreign_schema_stmt(&mut self, at: Place<'_>) -> p::ImportForeignSchemaStmt {
        p::ImportForeignSchemaStmt {
            server_name: self.text(at.pointer(8)),
            remote_schema: self.text(at.pointer(16)),
            local_schema: self.text(at.pointer(24)),
            list_type: at.i32(32) + 1,
            table_list: self.items(at.pointer(40)),
            options: self.items(at.pointer(48)),
        }
    }

    fn read_create_policy_stmt(&mut self, at: Place<'_>) -> p::CreatePolicyStmt {
        p::CreatePolicyStmt {
            policy_name: self.text(at.pointer(8)),
            table: self.inner(at.pointer(16), Self::read_range_var),
            cmd_name: self.text(at.pointer(24)),
            permissive: at.bool(32),
            roles: self.items(at.pointer(40)),
            qual: self.node(at.pointer(48)),
            with_check: self.node(at.pointer(56)),
        }
    }

    fn read_alter_policy_stmt(&mut self, at: Place<'_>) -> p::AlterPolicyStmt {
        p::AlterPolicyStmt {
            policy_name: self.text(at.pointer(8)),
            table: self.inner(at.pointer(16), Self::read_range_var),
            roles: self.items(at.pointer(24)),
            qual: self.node(at.pointer(32)),
            with_check: self.node(at.pointer(40)),
        }
    }

    fn read_create_am_stmt(&mut self, at: Place<'_>) -> p::CreateAmStmt {
        p::CreateAmStmt {
            amname: self.text(at.pointer(8)),
            handler_name: self.items(at.pointer(16)),
            amtype: at.letter(24),
        }
    }

    fn read_create_trig_stmt(&mut self, at: Place<'_>) -> p::CreateTrigStmt {
        p::CreateTrigStmt {
            replace: at.bool(4),
            isconstraint: at.bool(5),
            trigname: self.text(at.pointer(8)),
            relation: self.inner(at.pointer(16), Self::read_range_var),
            funcname: self.items(at.pointer(24)),
            args: self.items(at.pointer(32)),
            row: at.bool(40),
            timing: i32::from(at.i16(42)),
            events: i32::from(at.i16(44)),
            columns: self.items(at.pointer(48)),
            when_clause: self.node(at.pointer(56)),
            transition_rels: self.items(at.pointer(64)),
            deferrable: at.bool(72),
            initdeferred: at.bool(73),
            constrrel: self.inner(at.pointer(80), Self::read_range_var),
        }
    }

    fn read_create_event_trig_stmt(&mut self, at: Place<'_>) -> p::CreateEventTrigStmt {
        p::CreateEventTrigStmt {
            trigname: self.text(at.pointer(8)),
            eventname: self.text(at.pointer(16)),
            whenclause: self.items(at.pointer(24)),
            funcname: self.items(at.pointer(32)),
        }
    }

    fn read_alter_event_trig_stmt(&mut self, at: Place<'_>) -> p::AlterEventTrigStmt {
        p::AlterEventTrigStmt { trigname: self.text(at.pointer(8)), tgenabled: at.letter(16) }
    }

    fn read_create_p_lang_stmt(&mut self, at: Place<'_>) -> p::CreatePLangStmt {
        p::CreatePLangStmt {
            replace: at.bool(4),
            plname: self.text(at.pointer(8)),
            plhandler: self.items(at.pointer(16)),
            plinline: self.items(at.pointer(24)),
            plvalidator: self.items(at.pointer(32)),
            pltrusted: at.bool(40),
        }
    }

    fn read_create_role_stmt(&mut self, at: Place<'_>) -> p::CreateRoleStmt {
        p::CreateRoleStmt {
            stmt_type: at.i32(4) + 1,
            role: self.text(at.pointer(8)),
            options: self.items(at.pointer(16)),
        }
    }

    fn read_alter_role_stmt(&mut self, at: Place<'_>) -> p::AlterRoleStmt {
        p::AlterRoleStmt {
            role: self.inner(at.pointer(8), Self::read_role_spec),
            options: self.items(at.pointer(16)),
            action: at.i32(24),
        }
    }

    fn read_alter_role_set_stmt(&mut self, at: Place<'_>) -> p::AlterRoleSetStmt {
        p::AlterRoleSetStmt {
            role: self.inner(at.pointer(8), Self::read_role_spec),
            database: self.text(at.pointer(16)),
            setstmt: self.inner(at.pointer(24), Self::read_variable_set_stmt),
        }
    }

    fn read_drop_role_stmt(&mut self, at: Place<'_>) -> p::DropRoleStmt {
        p::DropRoleStmt { roles: self.items(at.pointer(8)), missing_ok: at.bool(16) }
    }

    fn read_create_seq_stmt(&mut self, at: Place<'_>) -> p::CreateSeqStmt {
        p::CreateSeqStmt {
            sequence: self.inner(at.pointer(8), Self::read_range_var),
            options: self.items(at.pointer(16)),
            owner_id: at.u32(24),
            for_identity: at.bool(28),
            if_not_exists: at.bool(29),
        }
    }

    fn read_alter_seq_stmt(&mut self, at: Place<'_>) -> p::AlterSeqStmt {
        p::AlterSeqStmt {
            sequence: self.inner(at.pointer(8), Self::read_range_var),
            options: self.items(at.pointer(16)),
            for_identity: at.bool(24),
            missing_ok: at.bool(25),
        }
    }

    fn read_define_stmt(&mut self, at: Place<'_>) -> p::DefineStmt {
        p::DefineStmt {
            kind: at.i32(4) + 1,
            oldstyle: at.bool(8),
            defnames: self.items(at.pointer(16)),
            args: self.items(at.pointer(24)),
            definition: self.items(at.pointer(32)),
            if_not_exists: at.bool(40),
            replace: at.bool(41),
        }
    }

    fn read_create_domain_stmt(&mut self, at: Place<'_>) -> p::CreateDomainStmt {
        p::CreateDomainStmt {
            domainname: self.items(at.pointer(8)),
            type_name: self.inner(at.pointer(16), Self::read_type_name),
            coll_clause: self.inner(at.pointer(24), Self::read_collate_clause).map(Box::new),
            constraints: self.items(at.pointer(32)),
        }
    }

    fn read_create_op_class_stmt(&mut self, at: Place<'_>) -> p::CreateOpClassStmt {
        p::CreateOpClassStmt {
            opclassname: self.items(at.pointer(8)),
            opfamilyname: self.items(at.pointer(16)),
            amname: self.text(at.pointer(24)),
            datatype: self.inner(at.pointer(32), Self::read_type_name),
            items: self.items(at.pointer(40)),
            is_default: at.bool(48),
        }
    }

    fn read_create_op_class_item(&mut self, at: Place<'_>) -> p::CreateOpClassItem {
        p::CreateOpClassItem {
            itemtype: at.i32(4),
            name: self.inner(at.pointer(8), Self::read_object_with_args),
            number: at.i32(16),
            order_family: self.items(at.pointer(24)),
            class_args: self.items(at.pointer(32)),
            storedtype: self.inner(at.pointer(40), Self::read_type_name),
        }
    }

    fn read_create_op_family_stmt(&mut self, at: Place<'_>) -> p::CreateOpFamilyStmt {
        p::CreateOpFamilyStmt { opfamilyname: self.items(at.pointer(8)), amname: self.text(at.pointer(16)) }
    }

    fn read_alter_op_family_stmt(&mut self, at: Place<'_>) -> p::AlterOpFamilyStmt {
        p::AlterOpFamilyStmt {
            opfamilyname: self.items(at.pointer(8)),
            amname: self.text(at.pointer(16)),
            is_drop: at.bool(24),
            items: self.items(at.pointer(32)),
        }
    }

    fn read_drop_stmt(&mut self, at: Place<'_>) -> p::DropStmt {
        p::DropStmt {
            objects: self.items(at.pointer(8)),
            remove_type: at.i32(16) + 1,
            behavior: at.i32(20) + 1,
            missing_ok: at.bool(24),
            concurrent: at.bool(25),
        }
    }

    fn read_truncate_stmt(&mut self, at: Place<'_>) -> p::TruncateStmt {
        p::TruncateStmt { relations: self.items(at.pointer(8)), restart_seqs: at.bool(16), behavior: at.i32(20) + 1 }
    }

    fn read_comment_stmt(&mut self, at: Place<'_>) -> p::CommentStmt {
        p::CommentStmt { objtype: at.i32(4) + 1, object: self.node(at.pointer(8)), comment: self.text(at.pointer(16)) }
    }

    fn read_sec_label_stmt(&mut self, at: Place<'_>) -> p::SecLabelStmt {
        p::SecLabelStmt {
            objtype: at.i32(4) + 1,
            object: self.node(at.pointer(8)),
            provider: self.text(at.pointer(16)),
            label: self.text(at.pointer(24)),
        }
    }

    fn read_declare_cursor_stmt(&mut self, at: Place<'_>) -> p::DeclareCursorStmt {
        p::DeclareCursorStmt {
            portalname: self.text(at.pointer(8)),
            options: at.i32(16),
            query: self.node(at.pointer(24)),
        }
    }

    fn read_close_portal_stmt(&mut self, at: Place<'_>) -> p::ClosePortalStmt {
        p::ClosePortalStmt { portalname: self.text(at.pointer(8)) }
    }

    fn read_fetch_stmt(&mut self, at: Place<'_>) -> p::FetchStmt {
        p::FetchStmt {
            direction: at.i32(4) + 1,
            how_many: at.i64(8),
            portalname: self.text(at.pointer(16)),
            ismove: at.bool(24),
        }
    }

    fn read_index_stmt(&mut self, at: Place<'_>) -> p::IndexStmt {
        p::IndexStmt {
            idxname: self.text(at.pointer(8)),
            relation: self.inner(at.pointer(16), Self::read_range_var),
            access_method: self.text(at.pointer(24)),
            table_space: self.text(at.pointer(32)),
            index_params: self.items(at.pointer(40)),
            index_including_params: self.items(at.pointer(48)),
            options: self.items(at.pointer(56)),
            where_clause: self.node(at.pointer(64)),
            exclude_op_names: self.items(at.pointer(72)),
            idxcomment: self.text(at.pointer(80)),
            index_oid: at.u32(88),
            old_number: at.u32(92),
            old_create_subid: at.u32(96),
            old_first_relfilelocator_subid: at.u32(100),
            unique: at.bool(104),
            nulls_not_distinct: at.bool(105),
            primary: at.bool(106),
            isconstraint: at.bool(107),
            iswithoutoverlaps: at.bool(108),
            deferrable: at.bool(109),
            initdeferred: at.bool(110),
            transformed: at.bool(111),
            concurrent: at.bool(112),
            if_not_exists: at.bool(113),
            reset_default_tblspc: at.bool(114),
        }
    }

    fn read_create_stats_stmt(&mut self, at: Place<'_>) -> p::CreateStatsStmt {
        p::CreateStatsStmt {
            defnames: self.items(at.pointer(8)),
            stat_types: self.items(at.pointer(16)),
            exprs: self.items(at.pointer(24)),
            relations: self.items(at.pointer(32)),
            stxcomment: self.text(at.pointer(40)),
            transformed: at.bool(48),
            if_not_exists: at.bool(49),
        }
    }

    fn read_stats_elem(&mut self, at: Place<'_>) -> p::StatsElem {
        p::StatsElem { name: self.text(at.pointer(8)), expr: self.node(at.pointer(16)) }
    }

    fn read_alter_stats_stmt(&mut self, at: Place<'_>) -> p::AlterStatsStmt {
        p::AlterStatsStmt {
            defnames: self.items(at.pointer(8)),
            stxstattarget: self.node(at.pointer(16)),
            missing_ok: at.bool(24),
        }
    }

    fn read_create_function_stmt(&mut self, at: Place<'_>) -> p::CreateFunctionStmt {
        p::CreateFunctionStmt {
            is_procedure: at.bool(4),
            replace: at.bool(5),
            funcname: self.items(at.pointer(8)),
            parameters: self.items(at.pointer(16)),
            return_type: self.inner(at.pointer(24), Self::read_type_name),
            options: self.items(at.pointer(32)),
            sql_body: self.node(at.pointer(40)),
        }
    }

    fn read_function_parameter(&mut self, at: Place<'_>) -> p::FunctionParameter {
        p::FunctionParameter {
            name: self.text(at.pointer(8)),
            arg_type: self.inner(at.pointer(16), Self::read_type_name),
            mode: function_parameter_mode(at.i32(24)),
            defexpr: self.node(at.pointer(32)),
            location: at.i32(40),
        }
    }

    fn read_alter_function_stmt(&mut self, at: Place<'_>) -> p::AlterFunctionStmt {
        p::AlterFunctionStmt {
            objtype: at.i32(4) + 1,
            func: self.inner(at.pointer(8), Self::read_object_with_args),
            actions: self.items(at.pointer(16)),
        }
    }

    fn read_do_stmt(&mut self, at: Place<'_>) -> p::DoStmt {
        p::DoStmt { args: self.items(at.pointer(8)) }
    }

    fn read_call_stmt(&mut self, at: Place<'_>) -> p::CallStmt {
        p::CallStmt {
            funccall: self.inner(at.pointer(8), Self::read_func_call).map(Box::new),
            funcexpr: self.inner(at.pointer(16), Self::read_func_expr).map(Box::new),
            outargs: self.items(at.pointer(24)),
        }
    }

    fn read_rename_stmt(&mut self, at: Place<'_>) -> p::RenameStmt {
        p::RenameStmt {
            rename_type: at.i32(4) + 1,
            relation_type: at.i32(8) + 1,
            relation: self.inner(at.pointer(16), Self::read_range_var),
            object: self.node(at.pointer(24)),
            subname: self.text(at.pointer(32)),
            newname: self.text(at.pointer(40)),
            behavior: at.i32(48) + 1,
            missing_ok: at.bool(52),
        }
    }

    fn read_alter_object_depends_stmt(&mut self, at: Place<'_>) -> p::AlterObjectDependsStmt {
        p::AlterObjectDependsStmt {
            object_type: at.i32(4) + 1,
            relation: self.inner(at.pointer(8), Self::read_range_var),
            object: self.node(at.pointer(16)),
            extname: self.inner(at.pointer(24), Self::read_string),
            remove: at.bool(32),
        }
    }

    fn read_alter_object_schema_stmt(&mut self, at: Place<'_>) -> p::AlterObjectSchemaStmt {
        p::AlterObjectSchemaStmt {
            object_type: at.i32(4) + 1,
            relation: self.inner(at.pointer(8), Self::read_range_var),
            object: self.node(at.pointer(16)),
            newschema: self.text(at.pointer(24)),
            missing_ok: at.bool(32),
        }
    }

    fn read_alter_owner_stmt(&mut self, at: Place<'_>) -> p::AlterOwnerStmt {
        p::AlterOwnerStmt {
            object_type: at.i32(4) + 1,
            relation: self.inner(at.pointer(8), Self::read_range_var),
            object: self.node(at.pointer(16)),
            newowner: self.inner(at.pointer(24), Self::read_role_spec),
        }
    }

    fn read_alter_operator_stmt(&mut self, at: Place<'_>) -> p::AlterOperatorStmt {
        p::AlterOperatorStmt {
            opername: self.inner(at.pointer(8), Self::read_object_with_args),
            options: self.items(at.pointer(16)),
        }
    }

    fn read_alter_type_stmt(&mut self, at: Place<'_>) -> p::AlterTypeStmt {
        p::AlterTypeStmt { type_name: self.items(at.pointer(8)), options: self.items(at.pointer(16)) }
    }

    fn read_rule_stmt(&mut self, at: Place<'_>) -> p::RuleStmt {
        p::RuleStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            rulename: self.text(at.pointer(16)),
            where_clause: self.node(at.pointer(24)),
            event: at.i32(32) + 1,
            instead: at.bool(36),
            actions: self.items(at.pointer(40)),
            replace: at.bool(48),
        }
    }

    fn read_notify_stmt(&mut self, at: Place<'_>) -> p::NotifyStmt {
        p::NotifyStmt {
            conditionname: self.text(at.pointer(8)),
            payload: self.text(at.pointer(16)),
            payload_location: at.i32(24),
        }
    }

    fn read_listen_stmt(&mut self, at: Place<'_>) -> p::ListenStmt {
        p::ListenStmt { conditionname: self.text(at.pointer(8)) }
    }

    fn read_unlisten_stmt(&mut self, at: Place<'_>) -> p::UnlistenStmt {
        p::UnlistenStmt { conditionname: self.text(at.pointer(8)) }
    }

    fn read_transaction_stmt(&mut self, at: Place<'_>) -> p::TransactionStmt {
        p::TransactionStmt {
            kind: at.i32(4) + 1,
            options: self.items(at.pointer(8)),
            savepoint_name: self.text(at.pointer(16)),
            gid: self.text(at.pointer(24)),
            chain: at.bool(32),
            location: at.i32(36),
        }
    }

    fn read_composite_type_stmt(&mut self, at: Place<'_>) -> p::CompositeTypeStmt {
        p::CompositeTypeStmt {
            typevar: self.inner(at.pointer(8), Self::read_range_var),
            coldeflist: self.items(at.pointer(16)),
        }
    }

    fn read_create_enum_stmt(&mut self, at: Place<'_>) -> p::CreateEnumStmt {
        p::CreateEnumStmt { type_name: self.items(at.pointer(8)), vals: self.items(at.pointer(16)) }
    }

    fn read_create_range_stmt(&mut self, at: Place<'_>) -> p::CreateRangeStmt {
        p::CreateRangeStmt { type_name: self.items(at.pointer(8)), params: self.items(at.pointer(16)) }
    }

    fn read_alter_enum_stmt(&mut self, at: Place<'_>) -> p::AlterEnumStmt {
        p::AlterEnumStmt {
            type_name: self.items(at.pointer(8)),
            old_val: self.text(at.pointer(16)),
            new_val: self.text(at.pointer(24)),
            new_val_neighbor: self.text(at.pointer(32)),
            new_val_is_after: at.bool(40),
            skip_if_new_val_exists: at.bool(41),
        }
    }

    fn read_view_stmt(&mut self, at: Place<'_>) -> p::ViewStmt {
        p::ViewStmt {
            view: self.inner(at.pointer(8), Self::read_range_var),
            aliases: self.items(at.pointer(16)),
            query: self.node(at.pointer(24)),
            replace: at.bool(32),
            options: self.items(at.pointer(40)),
            with_check_option: at.i32(48) + 1,
        }
    }

    fn read_load_stmt(&mut self, at: Place<'_>) -> p::LoadStmt {
        p::LoadStmt { filename: self.text(at.pointer(8)) }
    }

    fn read_createdb_stmt(&mut self, at: Place<'_>) -> p::CreatedbStmt {
        p::CreatedbStmt { dbname: self.text(at.pointer(8)), options: self.items(at.pointer(16)) }
    }

    fn read_alter_database_stmt(&mut self, at: Place<'_>) -> p::AlterDatabaseStmt {
        p::AlterDatabaseStmt { dbname: self.text(at.pointer(8)), options: self.items(at.pointer(16)) }
    }

    fn read_alter_database_refresh_coll_stmt(&mut self, at: Place<'_>) -> p::AlterDatabaseRefreshCollStmt {
        p::AlterDatabaseRefreshCollStmt { dbname: self.text(at.pointer(8)) }
    }

    fn read_alter_database_set_stmt(&mut self, at: Place<'_>) -> p::AlterDatabaseSetStmt {
        p::AlterDatabaseSetStmt {
            dbname: self.text(at.pointer(8)),
            setstmt: self.inner(at.pointer(16), Self::read_variable_set_stmt),
        }
    }

    fn read_dropdb_stmt(&mut self, at: Place<'_>) -> p::DropdbStmt {
        p::DropdbStmt { dbname: self.text(at.pointer(8)), missing_ok: at.bool(16), options: self.items(at.pointer(24)) }
    }

    fn read_alter_system_stmt(&mut self, at: Place<'_>) -> p::AlterSystemStmt {
        p::AlterSystemStmt { setstmt: self.inner(at.pointer(8), Self::read_variable_set_stmt) }
    }

    fn read_cluster_stmt(&mut self, at: Place<'_>) -> p::ClusterStmt {
        p::ClusterStmt {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            indexname: self.text(at.pointer(16)),
            params: self.items(at.pointer(24)),
        }
    }

    fn read_vacuum_stmt(&mut self, at: Place<'_>) -> p::VacuumStmt {
        p::VacuumStmt {
            options: self.items(at.pointer(8)),
            rels: self.items(at.pointer(16)),
            is_vacuumcmd: at.bool(24),
        }
    }

    fn read_vacuum_relation(&mut self, at: Place<'_>) -> p::VacuumRelation {
        p::VacuumRelation {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            oid: at.u32(16),
            va_cols: self.items(at.pointer(24)),
        }
    }

    fn read_explain_stmt(&mut self, at: Place<'_>) -> p::ExplainStmt {
        p::ExplainStmt { query: self.node(at.pointer(8)), options: self.items(at.pointer(16)) }
    }

    fn read_create_table_as_stmt(&mut self, at: Place<'_>) -> p::CreateTableAsStmt {
        p::CreateTableAsStmt {
            query: self.node(at.pointer(8)),
            into: self.inner(at.pointer(16), Self::read_into_clause).map(Box::new),
            objtype: at.i32(24) + 1,
            is_select_into: at.bool(28),
            if_not_exists: at.bool(29),
        }
    }

    fn read_refresh_mat_view_stmt(&mut self, at: Place<'_>) -> p::RefreshMatViewStmt {
        p::RefreshMatViewStmt {
            concurrent: at.bool(4),
            skip_data: at.bool(5),
            relation: self.inner(at.pointer(8), Self::read_range_var),
        }
    }

    fn read_check_point_stmt(&mut self, _: Place<'_>) -> p::CheckPointStmt {
        p::CheckPointStmt {}
    }

    fn read_discard_stmt(&mut self, at: Place<'_>) -> p::DiscardStmt {
        p::DiscardStmt { target: at.i32(4) + 1 }
    }

    fn read_lock_stmt(&mut self, at: Place<'_>) -> p::LockStmt {
        p::LockStmt { relations: self.items(at.pointer(8)), mode: at.i32(16), nowait: at.bool(20) }
    }

    fn read_constraints_set_stmt(&mut self, at: Place<'_>) -> p::ConstraintsSetStmt {
        p::ConstraintsSetStmt { constraints: self.items(at.pointer(8)), deferred: at.bool(16) }
    }

    fn read_reindex_stmt(&mut self, at: Place<'_>) -> p::ReindexStmt {
        p::ReindexStmt {
            kind: at.i32(4) + 1,
            relation: self.inner(at.pointer(8), Self::read_range_var),
            name: self.text(at.pointer(16)),
            params: self.items(at.pointer(24)),
        }
    }

    fn read_create_conversion_stmt(&mut self, at: Place<'_>) -> p::CreateConversionStmt {
        p::CreateConversionStmt {
            conversion_name: self.items(at.pointer(8)),
            for_encoding_name: self.text(at.pointer(16)),
            to_encoding_name: self.text(at.pointer(24)),
            func_name: self.items(at.pointer(32)),
            def: at.bool(40),
        }
    }

    fn read_create_cast_stmt(&mut self, at: Place<'_>) -> p::CreateCastStmt {
        p::CreateCastStmt {
            sourcetype: self.inner(at.pointer(8), Self::read_type_name),
            targettype: self.inner(at.pointer(16), Self::read_type_name),
            func: self.inner(at.pointer(24), Self::read_object_with_args),
            context: at.i32(32) + 1,
            inout: at.bool(36),
        }
    }

    fn read_create_transform_stmt(&mut self, at: Place<'_>) -> p::CreateTransformStmt {
        p::CreateTransformStmt {
            replace: at.bool(4),
            type_name: self.inner(at.pointer(8), Self::read_type_name),
            lang: self.text(at.pointer(16)),
            fromsql: self.inner(at.pointer(24), Self::read_object_with_args),
            tosql: self.inner(at.pointer(32), Self::read_object_with_args),
        }
    }

    fn read_prepare_stmt(&mut self, at: Place<'_>) -> p::PrepareStmt {
        p::PrepareStmt {
            name: self.text(at.pointer(8)),
            argtypes: self.items(at.pointer(16)),
            query: self.node(at.pointer(24)),
        }
    }

    fn read_execute_stmt(&mut self, at: Place<'_>) -> p::ExecuteStmt {
        p::ExecuteStmt { name: self.text(at.pointer(8)), params: self.items(at.pointer(16)) }
    }

    fn read_deallocate_stmt(&mut self, at: Place<'_>) -> p::DeallocateStmt {
        p::DeallocateStmt { name: self.text(at.pointer(8)), isall: at.bool(16), location: at.i32(20) }
    }

    fn read_drop_owned_stmt(&mut self, at: Place<'_>) -> p::DropOwnedStmt {
        p::DropOwnedStmt { roles: self.items(at.pointer(8)), behavior: at.i32(16) + 1 }
    }

    fn read_reassign_owned_stmt(&mut self, at: Place<'_>) -> p::ReassignOwnedStmt {
        p::ReassignOwnedStmt {
            roles: self.items(at.pointer(8)),
            newrole: self.inner(at.pointer(16), Self::read_role_spec),
        }
    }

    fn read_alter_ts_dictionary_stmt(&mut self, at: Place<'_>) -> p::AlterTsDictionaryStmt {
        p::AlterTsDictionaryStmt { dictname: self.items(at.pointer(8)), options: self.items(at.pointer(16)) }
    }

    fn read_alter_ts_configuration_stmt(&mut self, at: Place<'_>) -> p::AlterTsConfigurationStmt {
        p::AlterTsConfigurationStmt {
            kind: at.i32(4) + 1,
            cfgname: self.items(at.pointer(8)),
            tokentype: self.items(at.pointer(16)),
            dicts: self.items(at.pointer(24)),
            r#override: at.bool(32),
            replace: at.bool(33),
            missing_ok: at.bool(34),
        }
    }

    fn read_publication_table(&mut self, at: Place<'_>) -> p::PublicationTable {
        p::PublicationTable {
            relation: self.inner(at.pointer(8), Self::read_range_var),
            where_clause: self.node(at.pointer(16)),
            columns: self.items(at.pointer(24)),
        }
    }

    fn read_publication_obj_spec(&mut self, at: Place<'_>) -> p::PublicationObjSpec {
        p::PublicationObjSpec {
            pubobjtype: at.i32(4) + 1,
            name: self.text(at.pointer(8)),
            pubtable: self.inner(at.pointer(16), Self::read_publication_table).map(Box::new),
            location: at.i32(24),
        }
    }

    fn read_create_publication_stmt(&mut self, at: Place<'_>) -> p::CreatePublicationStmt {
        p::CreatePublicationStmt {
            pubname: self.text(at.pointer(8)),
            options: self.items(at.pointer(16)),
            pubobjects: self.items(at.pointer(24)),
            for_all_tables: at.bool(32),
        }
    }

    fn read_alter_publication_stmt(&mut self, at: Place<'_>) -> p::AlterPublicationStmt {
        p::AlterPublicationStmt {
            pubname: self.text(at.pointer(8)),
            options: self.items(at.pointer(16)),
            pubobjects: self.items(at.pointer(24)),
            for_all_tables: at.bool(32),
            action: at.i32(36) + 1,
        }
    }

    fn read_create_subscription_stmt(&mut self, at: Place<'_>) -> p::CreateSubscriptionStmt {
        p::CreateSubscriptionStmt {
            subname: self.text(at.pointer(8)),
            conninfo: self.text(at.pointer(16)),
            publication: self.items(at.pointer(24)),
            options: self.items(at.pointer(32)),
            conninfo_location: at.i32(40),
        }
    }

    fn read_alter_subscription_stmt(&mut self, at: Place<'_>) -> p::AlterSubscriptionStmt {
        p::AlterSubscriptionStmt {
            kind: at.i32(4) + 1,
            subname: self.text(at.pointer(8)),
            conninfo: self.text(at.pointer(16)),
            publication: self.items(at.pointer(24)),
            options: self.items(at.pointer(32)),
            conninfo_location: at.i32(40),
        }
    }

    fn read_drop_subscription_stmt(&mut self, at: Place<'_>) -> p::DropSubscriptionStmt {
        p::DropSubscriptionStmt { subname: self.text(at.pointer(8)), missing_ok: at.bool(16), behavior: at.i32(20) + 1 }
    }
}

fn function_parameter_mode(value: i32) -> i32 {
    match value {
        105 => 1,
        111 => 2,
        98 => 3,
        118 => 4,
        116 => 5,
        100 => 6,
        _ => 0,
    }
}

fn partition_strategy(value: i32) -> i32 {
    match value {
        108 => 1,
        114 => 2,
        104 => 3,
        _ => 0,
    }
}
