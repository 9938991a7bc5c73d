//! Tables of a real server's catalog that have no rows here, since what they describe does not exist in a file, or none
//! in a file without roles.

use super::Table;

macro_rules! empty {
    (@rows) => { |_| Vec::new() };
    (@rows $rows:path) => { $rows };
    ($($name:literal: $columns:literal $(=> $rows:path)?;)*) => {
        &[$(Table {
            namespace: "informix",
            name: $name,
            columns: $columns,
            rows: empty!(@rows $($rows)?),
            live: false,
        one: None,
        chunks: None,
        },)*]
    };
}

#[rustfmt::skip]
pub(super) const TABLES: &[Table] = empty! {
    "syscolauth":
        "grantor char(32), grantee char(32), tabid integer, colno smallint, colauth char(3)" => super::privileges::of_columns;
    "syssynonyms":
        "owner char(32), synname varchar(128), created date, tabid integer";
    "sysprocplan":
        "procid integer, planid integer, datakey char(1), seqno integer, created date, datasize integer, \
         data char(256), collation char(32)";
    "sysopclstr":
        "owner char(32), clstrname varchar(128), clstrsize integer, tabid integer, blobcol1 smallint, blobcol2 smallint, blobcol3 smallint, blobcol4 smallint, blobcol5 smallint, blobcol6 smallint, blobcol7 smallint, blobcol8 smallint, blobcol9 smallint, blobcol10 smallint, blobcol11 smallint, blobcol12 smallint, blobcol13 smallint, blobcol14 smallint, blobcol15 smallint, blobcol16 smallint, clstrkey1 smallint, clstrkey2 smallint, clstrkey3 smallint, clstrkey4 smallint, clstrkey5 smallint, clstrkey6 smallint, clstrkey7 smallint, clstrkey8 smallint, clstrkey9 smallint, clstrkey10 smallint, clstrkey11 smallint, clstrkey12 smallint, clstrkey13 smallint, clstrkey14 smallint, clstrkey15 smallint, clstrkey16 smallint";
    "sysdistrib":
        "tabid integer, colno smallint, seqno integer, constructed date, mode char(1), resolution smallfloat, \
         confidence smallfloat, encdat char(256), type char(1), smplsize smallfloat, rowssmpld float, \
         constr_time datetime year to fraction(5), ustnrows float, ustbuildduration interval hour to fraction(5), nupdates float, \
         ndeletes float, ninserts float";
    "sysfragments":
        "fragtype char(1), tabid integer, indexname varchar(128), colno integer, partn integer, strategy char(1), location char(1), \
         servername varchar(128), evalpos integer, exprtext text, exprbin byte, exprarr byte, flags integer, dbspace varchar(128), \
         levels smallint, npused float, nrows float, clust float, partition varchar(128), version smallint, nupdates float, \
         ndeletes float, ninserts float";
    "sysviolations":
        "targettid integer, viotid integer, diatid integer, maxrows integer";
    "sysfragauth":
        "grantor char(32), grantee char(32), tabid integer, fragment varchar(128), fragauth char(6)";
    "sysroleauth":
        "rolename varchar(32), grantee char(32), is_grantable char(1)" => super::privileges::members;
    "sysxtddesc":
        "extended_id integer, seqno smallint, description char(256)";
    "sysinherits":
        "child integer, parent integer, class char(1), seqno smallint";
    "syscolattribs":
        "tabid integer, colno smallint, extentsize integer, flags integer, flags1 integer, \
         sbspace varchar(128)";
    "syslogmap":
        "tabloc integer, tabid integer, fragid integer, flags integer";
    "sysxtdtypeauth":
        "grantor char(32), grantee char(32), type integer, auth char(2)";
    "sysroutinelangs":
        "langid serial, langname char(30), langinitfunc varchar(128), langpath char(255), langclass char(18)";
    "syslangauth":
        "grantor char(32), grantee char(32), langid integer, langauth char(1)";
    "systabamdata":
        "tabid integer, am_param char(256), am_space varchar(128)";
    "syserrors":
        "sqlstate char(5), locale char(36), level smallint, seqno smallint, message varchar(255)";
    "systraceclasses":
        "name char(18), classid serial";
    "systracemsgs":
        "name varchar(128), msgid serial, locale char(36), seqno smallint, message varchar(255)";
    "sysaggregates":
        "name varchar(128), owner char(32), aggid serial, init_func varchar(128), iter_func varchar(128), combine_func varchar(128), \
         final_func varchar(128), handlesnulls boolean" => super::routines::aggregates;
    "sysdirectives":
        "id serial, query char(256), directive char(256), directive_code char(16), active smallint, hash_code integer";
    "sysxasourcetypes":
        "xa_source_typeid serial, xa_source_type varchar(128), owner char(32), flags integer, version integer";
    "sysxadatasources":
        "xa_datasrc_rmid serial, xa_datasrc_name varchar(128), owner char(32), xa_source_typeid integer";
    "sysseclabelcomponents":
        "compname varchar(128), compid serial, comptype char(1), numelements integer";
    "sysseclabelcomponentelements":
        "compid integer, element varchar(32), elementencoding char(8), parentelement varchar(32)";
    "syssecpolicies":
        "secpolicyname varchar(128), secpolicyid serial, numcomps smallint, comptypelist char(16), overrideseclabel char(1)";
    "syssecpolicycomponents":
        "secpolicyid integer, compid integer, compno smallint";
    "syssecpolicyexemptions":
        "grantee char(32), secpolicyid integer, exemption char(6)";
    "sysseclabels":
        "secpolicyid integer, seclabelname varchar(128), seclabelid serial, seclabel varchar(128)";
    "sysseclabelnames":
        "secpolicyid integer, seclabelname varchar(128), seclabelid integer";
    "sysseclabelauth":
        "grantee char(32), secpolicyid integer, readseclabelid integer, writeseclabelid integer";
    "syssurrogateauth":
        "trusteduser char(32), surrogateuser char(32), surrogatetype char(1)";
    "sysextcols":
        "tabid integer, colno smallint, exttype smallint, extstart smallint, extlength smallint, nullstr char(256), \
         picture char(256), decimal smallint, extstype varchar(128)";
    "sysextdfiles":
        "tabid integer, dfentry char(152), blobdir char(152), clobdir char(152)";
    "sysexternal":
        "tabid integer, fmttype char(1), recdelim char(4), flddelim char(4), codeset varchar(128), datefmt char(8), \
         moneyfmt char(20), maxerrors integer, rejectfile char(464), flags integer, ndfiles integer";
    "sysdomains":
        "id serial, owner char(32), name varchar(128), type char(1)";
    "syscheckudrdep":
        "udr_id integer, constraint_id integer";
    "sysfragdist":
        "tabid integer, fragid integer, colno smallint, seqno integer, mode char(1), resolution smallfloat, confidence smallfloat, \
         rowssampled float, ustbuildduration interval hour to fraction(5), constr_time datetime year to fraction(5), ustnrows float, \
         minibinsize float, nupdates float, ndeletes float, ninserts float, encdist char(256)";
};
