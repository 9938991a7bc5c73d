//! What can go wrong, once, with the codes that each wire gives it.

use std::fmt;

/// Shorthand for results of this crate and of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! conditions {
    ($($(#[$meta:meta])* $name:ident $sqlstate:literal $sqlcode:literal $isam:literal $mysql:literal $mysqlstate:literal,)*) => {
        /// A kind of failure. PostgreSQL's condition names; each row of the table has the SQLSTATE, Informix's SQL
        /// code and its ISAM code, MySQL's number and its SQLSTATE.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum Condition {
            $(#[doc = concat!("SQLSTATE ", $sqlstate, ".")] $(#[$meta])* $name,)*
        }

        impl Condition {
            /// Every condition, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// PostgreSQL's (and the SQL standard's) five characters.
            pub const fn sqlstate(self) -> &'static str {
                match self { $(Self::$name => $sqlstate,)* }
            }

            /// Informix's SQL code; negative.
            pub const fn informix_code(self) -> i16 {
                match self { $(Self::$name => $sqlcode,)* }
            }

            /// Informix's ISAM code; 0 when there is none.
            pub const fn isam_code(self) -> i16 {
                match self { $(Self::$name => $isam,)* }
            }

            /// MySQL's number.
            pub const fn mysql_code(self) -> u16 {
                match self { $(Self::$name => $mysql,)* }
            }

            /// MySQL's SQLSTATE, which is `HY000` for most.
            pub const fn mysql_sqlstate(self) -> &'static str {
                match self { $(Self::$name => $mysqlstate,)* }
            }
        }
    };
}

// Sources: PostgreSQL documentation, appendix A; Informix error messages as listed in docs/protocol/;
// MySQL 8.0 Reference Manual, server error messages.
conditions! {
    // Class 00, 01: no errors but messages beside a result; no wire sends their codes as an error's.
    SuccessfulCompletion "00000" -1 0 1105 "HY000",
    Warning "01000" -1 0 1105 "HY000",
    PrivilegeNotRevoked "01006" -1 0 1105 "HY000",
    PrivilegeNotGranted "01007" -1 0 1105 "HY000",
    // Class 08: connection
    ConnectionException "08000" -908 0 2013 "HY000",
    ConnectionFailure "08006" -25580 0 2013 "HY000",
    TransactionResolutionUnknown "08007" -25582 0 2013 "HY000",
    ProtocolViolation "08P01" -408 0 1835 "HY000",
    // Class 0A
    FeatureNotSupported "0A000" -999 0 1235 "42000",
    // A statement was prepared before its tables changed, and would return other columns now.
    StalePlan "0A000" -710 0 1615 "HY000",
    InvalidGrantOperation "0LP01" -580 0 1221 "HY000",
    // Class 21, 22: data
    CardinalityViolation "21000" -284 0 1242 "21000",
    DataException "22000" -1213 0 1210 "HY000",
    StringDataRightTruncation "22001" -1279 0 1406 "22001",
    NumericValueOutOfRange "22003" -1226 0 1264 "22003",
    NullValueNotAllowed "22004" -391 0 1048 "23000",
    InvalidDatetimeFormat "22007" -1262 0 1292 "22007",
    DatetimeFieldOverflow "22008" -1263 0 1292 "22007",
    InvalidTimeZoneDisplacement "22009" -1263 0 1292 "22007",
    DivisionByZero "22012" -1202 0 1365 "22012",
    IntervalFieldOverflow "22015" -1265 0 1292 "22007",
    InvalidRegularExpression "2201B" -1213 0 3692 "HY000",
    InvalidRowCountInLimit "2201W" -844 0 1327 "42000",
    InvalidRowCountInOffset "2201X" -844 0 1327 "42000",
    SequenceGeneratorLimitExceeded "2200H" -8315 0 1467 "HY000",
    InvalidPrecedingOrFollowingSize "22013" -1213 0 3586 "HY000",
    InvalidArgumentForNtile "22014" -1213 0 1210 "HY000",
    InvalidArgumentForNthValue "22016" -1213 0 1210 "HY000",
    InvalidArgumentForLogarithm "2201E" -1213 0 3020 "2201E",
    InvalidArgumentForPower "2201F" -1213 0 1690 "22003",
    InvalidArgumentForWidthBucket "2201G" -1213 0 1210 "HY000",
    CharacterNotInRepertoire "22021" -202 0 1366 "HY000",
    InvalidEscapeSequence "22025" -1213 0 1210 "HY000",
    InvalidUseOfEscapeCharacter "2200C" -1213 0 1210 "HY000",
    InvalidParameterValue "22023" -1213 0 1210 "HY000",
    StringDataLengthMismatch "22026" -1279 0 1406 "22001",
    SubstringError "22011" -881 0 1210 "HY000",
    InvalidTextRepresentation "22P02" -1213 0 1366 "HY000",
    InvalidBinaryRepresentation "22P03" -1213 0 1366 "HY000",
    BadCopyFileFormat "22P04" -846 0 1262 "01000",
    UntranslatableCharacter "22P05" -202 0 1366 "HY000",
    NonstandardUseOfEscapeCharacter "22P06" -202 0 1210 "HY000",
    // Conditions that Informix tells apart and PostgreSQL does not.
    BigintOutOfRange "22003" -1284 0 1264 "22003",
    BlobLiteral "22023" -617 0 1210 "HY000",
    DatetimeArithmeticOverflow "22008" -1267 0 1292 "22007",
    ExtraDatetimeFields "22007" -1264 0 1292 "22007",
    IncompatibleIntervals "22007" -1266 0 1292 "22007",
    IntegerOutOfRange "22003" -1215 0 1264 "22003",
    InvalidBoolean "22P02" -1260 0 1366 "HY000",
    InvalidLargeObject "42704" -9810 0 1210 "HY000",
    TooFewParameters "07001" -254 0 1210 "HY000",
    InvalidDateText "22007" -1218 0 1292 "22007",
    InvalidDay "22008" -1206 0 1292 "22007",
    InvalidIntervalFormat "22007" -1263 0 1292 "22007",
    InvalidMonth "22008" -1205 0 1292 "22007",
    InvalidYear "22008" -1204 0 1292 "22007",
    SmallintOutOfRange "22003" -1214 0 1264 "22003",
    DuplicateIndex "42710" -316 0 1061 "42000",
    InvalidJsonDatetime "22031" -1260 0 3143 "42000",
    ZeroLengthCharacterString "2200F" -1260 0 3143 "42000",
    InvalidSqlJsonSubscript "22033" -1260 0 3143 "42000",
    NonNumericSqlJsonItem "22036" -1260 0 3143 "42000",
    SingletonSqlJsonItemRequired "22038" -1260 0 3143 "42000",
    SqlJsonArrayNotFound "22039" -1260 0 3143 "42000",
    SqlJsonMemberNotFound "2203A" -1260 0 3143 "42000",
    SqlJsonNumberNotFound "2203B" -1260 0 3143 "42000",
    SqlJsonObjectNotFound "2203C" -1260 0 3143 "42000",
    InvalidTablesampleRepeat "2202G" -1213 0 1210 "HY000",
    InvalidTablesampleArgument "2202H" -1213 0 1210 "HY000",
    IllegalSubscript "2202E" -307 0 1210 "HY000",
    IndexOnSameColumns "42710" -350 0 1061 "42000",
    InconvertibleTypes "42804" -1260 0 1267 "HY000",
    InputFormatMismatch "22007" -1277 0 1292 "22007",
    InvalidColumnNumber "42P10" -251 0 1054 "42S22",
    InvalidFormatCharacter "22007" -1276 0 1292 "22007",
    LengthTooLarge "42611" -235 0 1074 "42000",
    MisplacedAggregate "42803" -595 0 1111 "HY000",
    PrecisionTooLarge "42611" -361 0 1426 "42000",
    SecondSerial "42611" -362 0 1075 "42000",
    SumOfCharacters "42883" -367 0 1210 "HY000",
    TwoMatchingRows "21000" -284 0 1242 "21000",
    TriggerWithoutAction "42601" -729 0 1064 "42000",
    TriggerWithoutRow "42601" -730 0 1064 "42000",
    UndefinedSynonym "42704" -218 0 1146 "42S02",
    UndefinedType "42704" -9628 0 1064 "42000",
    UnionColumnCount "42601" -317 0 1222 "21000",
    UnionTypes "42804" -308 0 1267 "HY000",
    VarcharTooLong "42611" -650 0 1074 "42000",
    ViewColumnWithoutName "42P16" -249 0 1166 "42000",
    // Class 23: constraints
    IntegrityConstraintViolation "23000" -268 -100 1022 "23000",
    RestrictViolation "23001" -692 0 1451 "23000",
    NotNullViolation "23502" -391 0 1048 "23000",
    ForeignKeyViolation "23503" -691 -111 1452 "23000",
    /// A parent row still has children; the same SQLSTATE, another Informix code.
    ForeignKeyViolationByParent "23503" -692 0 1451 "23000",
    UniqueViolation "23505" -268 -100 1062 "23000",
    CheckViolation "23514" -530 0 3819 "HY000",
    ExclusionViolation "23P01" -268 -100 1062 "23000",
    // Class 24, 25: cursors and transactions
    InvalidCursorState "24000" -259 0 1326 "24000",
    NoCurrentRow "24000" -266 0 1326 "24000",
    ActiveSqlTransaction "25001" -535 0 1568 "25001",
    ReadOnlySqlTransaction "25006" -271 0 1792 "25006",
    NoActiveSqlTransaction "25P01" -255 0 1179 "25000",
    TransactionStillOpen "25001" -377 0 1568 "25001",
    TransactionNotAvailable "25P01" -256 0 1179 "25000",
    InFailedSqlTransaction "25P02" -255 0 1179 "25000",
    IdleInTransactionSessionTimeout "25P03" -25580 0 4031 "HY000",
    TransactionTimeout "25P04" -25580 0 4031 "HY000",
    InvalidSqlStatementName "26000" -258 0 1243 "HY000",
    TriggeredDataChangeViolation "27000" -746 0 1442 "HY000",
    InvalidAuthorizationSpecification "28000" -951 0 1045 "28000",
    InvalidPassword "28P01" -951 0 1045 "28000",
    DependentObjectsStillExist "2BP01" -692 0 3730 "HY000",
    SavepointException "3B001" -256 0 1305 "42000",
    InvalidCursorName "34000" -507 0 1325 "24000",
    InvalidCatalogName "3D000" -329 -111 1049 "42000",
    NoDatabase "3D000" -349 0 1046 "3D000",
    InvalidSchemaName "3F000" -206 -111 1049 "42000",
    // Class 39: what a routine has answered
    TriggerProtocolViolated "39P01" -746 0 1105 "HY000",
    InvalidTransactionTermination "2D000" -255 0 1422 "HY000",
    NoFunctionReturn "2F005" -655 0 1321 "2F005",
    CaseNotFound "20000" -684 0 1339 "20000",
    StackedDiagnosticsOutsideHandler "0Z002" -255 0 1787 "0Z002",
    ErrorInAssignment "22005" -1213 0 1210 "HY000",
    ArraySubscriptError "2202E" -307 0 1210 "HY000",
    // Class 40: try again
    SerializationFailure "40001" -244 -143 1213 "40001",
    DeadlockDetected "40P01" -244 -143 1213 "40001",
    // Class 42: the statement
    SyntaxError "42601" -201 0 1064 "42000",
    InsufficientPrivilege "42501" -272 0 1142 "42000",
    // What it is that is not allowed, Informix tells apart.
    NoUpdatePermission "42501" -273 0 1142 "42000",
    NoDeletePermission "42501" -274 0 1142 "42000",
    NoInsertPermission "42501" -275 0 1142 "42000",
    NoGrantOption "42501" -302 0 1044 "42000",
    NotTheOwner "42501" -313 0 1044 "42000",
    NoIndexPermission "42501" -315 0 1142 "42000",
    NoConnectPermission "42501" -387 0 1044 "42000",
    NoResourcePermission "42501" -388 0 1044 "42000",
    NoDbaPermission "42501" -389 0 1044 "42000",
    CannotCoerce "42846" -9634 0 1267 "HY000",
    ColumnNeedsCast "42804" -9633 0 1267 "HY000",
    ValueOfAnotherType "42804" -9632 0 1267 "HY000",
    UndefinedCastFunction "42883" -9637 0 1305 "42000",
    DuplicateCast "42710" -9921 0 1061 "42000",
    UndefinedCast "42704" -9922 0 1091 "42000",
    IncompatibleCast "42P17" -9923 0 1064 "42000",
    GroupingError "42803" -294 0 1055 "42000",
    WindowingError "42P20" -294 0 3593 "HY000",
    CollationMismatch "42P21" -201 0 1267 "HY000",
    IndeterminateCollation "42P22" -201 0 1267 "HY000",
    InvalidRecursion "42P19" -201 0 3575 "HY000",
    InvalidForeignKey "42830" -297 0 1822 "HY000",
    ForeignKeyTypes "42830" -356 0 3780 "HY000",
    InvalidName "42602" -202 0 1103 "42000",
    NameTooLong "42622" -253 0 1059 "42000",
    ReservedName "42939" -202 0 1064 "42000",
    DatatypeMismatch "42804" -9634 0 1267 "HY000",
    IndeterminateDatatype "42P18" -201 0 1210 "HY000",
    WrongObjectType "42809" -206 -111 1347 "HY000",
    GeneratedAlways "428C9" -232 0 3105 "HY000",
    UndefinedColumn "42703" -217 0 1054 "42S22",
    UndefinedFunction "42883" -674 0 1305 "42000",
    UndefinedTable "42P01" -206 -111 1146 "42S02",
    UndefinedParameter "42P02" -201 0 1210 "HY000",
    UndefinedObject "42704" -319 0 1091 "42000",
    DuplicateColumn "42701" -328 0 1060 "42S21",
    DuplicateCursor "42P03" -260 0 1333 "42000",
    DuplicateDatabase "42P04" -330 0 1007 "HY000",
    DuplicatePreparedStatement "42P05" -260 0 1243 "HY000",
    DuplicateSchema "42P06" -310 0 1007 "HY000",
    DuplicateTable "42P07" -310 0 1050 "42S01",
    DuplicateAlias "42712" -324 0 1066 "42000",
    DuplicateObject "42710" -316 0 1061 "42000",
    DuplicateTrigger "42710" -743 0 1359 "HY000",
    AmbiguousColumn "42702" -324 0 1052 "23000",
    AmbiguousFunction "42725" -9700 0 1210 "HY000",
    AmbiguousAlias "42P09" -324 0 1066 "42000",
    AmbiguousParameter "42P08" -201 0 1210 "HY000",
    InvalidColumnReference "42P10" -217 0 1054 "42S22",
    OrderByOutsideDistinct "42P10" -309 0 3065 "HY000",
    InvalidColumnDefinition "42611" -201 0 1064 "42000",
    InvalidCursorDefinition "42P11" -526 0 1064 "42000",
    InvalidSchemaDefinition "42P15" -201 0 1064 "42000",
    InvalidTableDefinition "42P16" -201 0 1064 "42000",
    InvalidFunctionDefinition "42P13" -201 0 1064 "42000",
    InvalidObjectDefinition "42P17" -201 0 1064 "42000",
    // Informix counts columns against values with a code of its own.
    ColumnCountMismatch "42601" -236 0 1136 "21S01",
    UnterminatedString "42601" -282 0 1064 "42000",
    ExternalRoutineInvocation "39000" -937 0 1105 "HY000",
    WithCheckOptionViolation "44000" -385 0 1369 "HY000",
    // Class 53 to 58: resources and the outside
    InsufficientResources "53000" -208 0 1041 "HY000",
    DiskFull "53100" -271 -131 1021 "HY000",
    OutOfMemory "53200" -208 0 1037 "HY001",
    TooManyConnections "53300" -27001 0 1040 "08004",
    ProgramLimitExceeded "54000" -202 0 1436 "HY000",
    StatementTooComplex "54001" -202 0 1436 "HY000",
    TooManyColumns "54011" -202 0 1117 "HY000",
    TooManyArguments "54023" -202 0 1318 "42000",
    ObjectNotInPrerequisiteState "55000" -267 0 1105 "HY000",
    ObjectInUse "55006" -242 -106 1205 "HY000",
    DatabaseInUse "55006" -425 0 1205 "HY000",
    CantChangeRuntimeParam "55P02" -1213 0 1238 "HY000",
    LockNotAvailable "55P03" -244 -154 1205 "HY000",
    UnsafeNewEnumValueUsage "55P04" -1213 0 1265 "01000",
    QueryCanceled "57014" -213 -157 1317 "70100",
    AdminShutdown "57P01" -25580 0 1053 "08S01",
    CannotConnectNow "57P03" -27002 0 1053 "08S01",
    IdleSessionTimeout "57P05" -25580 0 4031 "HY000",
    IoError "58030" -271 -105 1030 "HY000",
    UndefinedFile "58P01" -329 -2 1017 "HY000",
    RaiseException "P0001" -746 0 1644 "45000",
    NoDataFound "P0002" -684 0 1329 "02000",
    TooManyRows "P0003" -284 0 1172 "42000",
    AssertFailure "P0004" -746 0 1644 "45000",
    // Routines.
    DuplicateFunction "42723" -673 0 1304 "42000",
    ReturnCountMismatch "42601" -655 0 1222 "21000",
    RoutineManyRows "21000" -686 0 1242 "21000",
    ConvertedTooLong "22001" -1207 0 1406 "22001",
    ConnectByLoop "54001" -26079 0 3573 "HY000",
    BsonOperator "0A000" -9659 0 1235 "42000",
    RoutineStatement "0A000" -675 0 1235 "42000",
    RoutineTooDeep "54001" -748 0 1456 "HY000",
    RoutineTooFewValues "42601" -685 0 1222 "21000",
    RoutineTooManyValues "42601" -684 0 1222 "21000",
    UndefinedVariable "42704" -667 0 1193 "HY000",
    VariableWithoutValue "55000" -696 0 1231 "42000",
    InternalError "XX000" -937 0 1105 "HY000",
    DataCorrupted "XX001" -105 -105 1194 "HY000",
}

/// How loud a message is that is no error.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// DEBUG1.
    Debug,
    /// LOG.
    Log,
    /// NOTICE.
    Notice,
    /// WARNING.
    Warning,
    /// INFO, which every client is told.
    Info,
}

/// A failure, in PostgreSQL's words.
///
/// `message` follows PostgreSQL's wording where PostgreSQL has the error. The other fields are filled when known, and
/// each door sends those that its wire has a place for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error(Box<Details>);

/// The fields of an [`Error`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Details {
    /// What kind of failure it is.
    pub condition: Condition,
    /// One sentence, lower case first, no full stop.
    pub message: String,
    /// More about this very case.
    pub detail: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// What was being done: the place in the data of a COPY.
    pub context: Option<String>,
    /// The statement inside a function that it is about, where that is not the client's.
    pub internal_query: Option<String>,
    /// Where in that: 1-based, in characters.
    pub internal_position: Option<u32>,
    /// A code of a routine's choice, which no condition may have.
    pub chosen_sqlstate: Option<Box<str>>,
    /// How loud a message is that is no error, when a routine has chosen it.
    pub severity: Option<Severity>,
    /// Where in the statement: 1-based, in characters, of the whole text that the client sent.
    pub position: Option<u32>,
    /// What was to be told before it failed.
    pub notices: Vec<Error>,
    /// Schema of the object concerned.
    pub schema: Option<String>,
    /// Table concerned.
    pub table: Option<String>,
    /// Column concerned.
    pub column: Option<String>,
    /// Row concerned, of those that a change writes: from 1.
    pub row: Option<usize>,
    /// Data type concerned.
    pub data_type: Option<String>,
    /// Constraint or index concerned.
    pub constraint: Option<String>,
    /// The row that the detail shows, for those who may see a part of it.
    pub failing_row: Option<Box<[String]>>,
    /// Informix's SQL and ISAM codes, when a routine has chosen them (RAISE EXCEPTION).
    pub codes: Option<(i16, i16)>,
    /// MySQL's number and SQLSTATE, where they are others than the condition's.
    pub mysql: Option<(u16, &'static str)>,
}

impl Error {
    /// An error with a message and nothing else.
    pub fn new(condition: Condition, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            condition,
            message: message.into(),
            detail: None,
            hint: None,
            context: None,
            internal_query: None,
            internal_position: None,
            notices: Vec::new(),
            chosen_sqlstate: None,
            severity: None,
            position: None,
            schema: None,
            table: None,
            column: None,
            row: None,
            data_type: None,
            constraint: None,
            failing_row: None,
            codes: None,
            mysql: None,
        }))
    }

    /// `feature` is not there yet: an honest gap, never a silently different answer.
    pub fn unsupported(feature: impl fmt::Display) -> Self {
        Self::new(Condition::FeatureNotSupported, format!("{feature} is not supported"))
    }

    /// A text that is not SQL.
    pub fn syntax(message: impl Into<String>) -> Self {
        Self::new(Condition::SyntaxError, message)
    }

    /// A broken promise inside rowferry.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Condition::InternalError, message)
    }

    /// A statement that was prepared would now return other columns, or take other parameters.
    pub fn stale_plan() -> Self {
        Self::new(Condition::StalePlan, "cached plan must not change result type")
    }

    /// Adds a detail line.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds the row that a constraint has refused, as it is shown.
    pub fn failing_row(mut self, row: Vec<String>) -> Self {
        self.0.detail = Some(format!("Failing row contains ({}).", row.join(", ")));
        self.0.failing_row = Some(row.into());
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says what was being done.
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.0.context = Some(context.into());
        self
    }

    /// Adds a position (1-based, characters) unless there already is one: the innermost knows best.
    pub fn at(mut self, position: u32) -> Self {
        self.0.position.get_or_insert(position);
        self
    }

    /// Names the table concerned.
    pub fn table(mut self, schema: impl Into<String>, table: impl Into<String>) -> Self {
        self.0.schema = Some(schema.into());
        self.0.table = Some(table.into());
        self
    }

    /// Names the column concerned.
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.0.column = Some(column.into());
        self
    }

    /// Names the constraint concerned.
    pub fn constraint(mut self, constraint: impl Into<String>) -> Self {
        self.0.constraint = Some(constraint.into());
        self
    }

    /// Tells which of the rows that a change writes is concerned, from 1.
    pub fn row(mut self, row: usize) -> Self {
        self.0.row = Some(row);
        self
    }

    /// Names the data type concerned.
    pub fn data_type(mut self, data_type: impl Into<String>) -> Self {
        self.0.data_type = Some(data_type.into());
        self
    }

    /// Gives the error codes of a routine's choice.
    pub fn codes(mut self, sqlcode: i16, isam: i16) -> Self {
        self.0.codes = Some((sqlcode, isam));
        self
    }

    /// Informix's SQL code.
    pub fn informix_code(&self) -> i16 {
        self.0.codes.map_or(self.0.condition.informix_code(), |(sqlcode, _)| sqlcode)
    }

    /// Informix's ISAM code; 0 when there is none.
    pub fn isam_code(&self) -> i16 {
        self.0.codes.map_or(self.0.condition.isam_code(), |(_, isam)| isam)
    }

    /// MySQL's number.
    pub fn mysql_code(&self) -> u16 {
        self.0.mysql.map_or(self.0.condition.mysql_code(), |(code, _)| code)
    }

    /// MySQL's SQLSTATE.
    pub fn mysql_sqlstate(&self) -> &str {
        match (&self.0.chosen_sqlstate, self.0.mysql) {
            (Some(chosen), _) => chosen,
            (None, Some((_, sqlstate))) => sqlstate,
            (None, None) => self.0.condition.mysql_sqlstate(),
        }
    }

    /// Gives the error MySQL's own number and SQLSTATE, which no condition has.
    pub fn with_mysql(mut self, code: u16, sqlstate: &'static str) -> Self {
        self.0.mysql = Some((code, sqlstate));
        self
    }

    /// Gives the error a code of a routine's choice.
    pub fn with_sqlstate(mut self, code: &str) -> Self {
        match Condition::ALL.iter().find(|condition| condition.sqlstate() == code) {
            Some(condition) => self.0.condition = *condition,
            None => self.0.chosen_sqlstate = Some(code.into()),
        }
        self
    }

    /// Gives the error a code of a routine's choice, whatever condition has it.
    pub fn with_chosen_sqlstate(mut self, code: &str) -> Self {
        self.0.chosen_sqlstate = Some(code.into());
        self
    }

    /// Says how loud the message is, which is no error.
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.0.severity = Some(severity);
        self
    }

    /// PostgreSQL's five characters.
    pub fn sqlstate(&self) -> &str {
        self.0.chosen_sqlstate.as_deref().unwrap_or_else(|| self.0.condition.sqlstate())
    }

    /// The kind of failure.
    pub fn condition(&self) -> Condition {
        self.0.condition
    }
}

impl std::ops::Deref for Error {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl std::ops::DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_has_well_formed_codes() {
        for condition in Condition::ALL {
            let sqlstate = condition.sqlstate();
            assert_eq!(sqlstate.len(), 5, "{condition:?}");
            assert!(sqlstate.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()), "{condition:?}");
            assert!(condition.informix_code() < 0, "{condition:?}");
            assert!(condition.isam_code() <= 0, "{condition:?}");
            assert!(condition.mysql_code() >= 1000, "{condition:?}");
            let sqlstate = condition.mysql_sqlstate();
            assert_eq!(sqlstate.len(), 5, "{condition:?}");
            assert!(sqlstate.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()), "{condition:?}");
        }
    }

    #[test]
    fn the_innermost_position_stays() {
        assert_eq!(Error::new(Condition::SyntaxError, "x").at(3).at(9).position, Some(3));
    }
}
