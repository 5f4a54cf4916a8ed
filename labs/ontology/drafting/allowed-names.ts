/** The uses of a name of the module or of the language. Without one, it is a plain value. */
interface Use {
  readonly members?: string;
  readonly calls?: true;
  readonly makes?: true;
}

/** The names that a function of a fragment may use, and their members. */
const FUNCTION_NAMES: Readonly<Record<string, Use>> = {
  pass: {},
  reject: { calls: true },
  escalate: { calls: true },
  undefined: {},
  NaN: {},
  Infinity: {},
  Object: { members: 'keys values entries fromEntries hasOwn' },
  Array: { members: 'isArray from of' },
  Math: { members: 'abs ceil floor round trunc sign sqrt max min pow' },
  Number: {
    members: 'isInteger isSafeInteger isFinite isNaN MAX_SAFE_INTEGER MIN_SAFE_INTEGER',
    calls: true,
  },
  String: { calls: true },
  Boolean: { calls: true },
  JSON: { members: 'stringify' },
  Date: { members: 'parse UTC' },
  Error: { makes: true },
  Set: { makes: true },
  Map: { makes: true },
};

/** The names that a schema of a fragment may use. */
const SCHEMA_NAMES: Readonly<Record<string, Use>> = {
  undefined: {},
  z: {
    members:
      'object strictObject record array tuple string number int boolean enum literal union discriminatedUnion null iso optional nullable',
  },
};

/** Methods of texts, numbers, lists, maps, sets and regular expressions. */
const FUNCTION_METHODS =
  'at charAt charCodeAt codePointAt concat endsWith includes indexOf lastIndexOf match matchAll normalize padEnd ' +
  'padStart repeat replace replaceAll search slice split startsWith substring toLowerCase toUpperCase trim trimEnd ' +
  'trimStart toFixed toString entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach ' +
  'join keys map pop push reduce reduceRight reverse shift some sort splice toReversed toSorted toSpliced unshift ' +
  'values with add clear delete get has set test exec';

const SCHEMA_METHODS =
  'min max length nonempty int positive nonnegative negative nonpositive multipleOf gt gte lt lte regex startsWith ' +
  'endsWith includes optional nullable nullish array or and extend pick omit partial required strict default date ' +
  'datetime time duration';

export type Sort = 'schema' | 'function';

export const NAMES: Readonly<Record<Sort, Readonly<Record<string, Use>>>> = {
  schema: SCHEMA_NAMES,
  function: FUNCTION_NAMES,
};

export const METHODS: Readonly<Record<Sort, ReadonlySet<string>>> = {
  schema: new Set(SCHEMA_METHODS.split(' ')),
  function: new Set(FUNCTION_METHODS.split(' ')),
};

/** Types that a fragment may name. */
export const TYPES: ReadonlySet<string> = new Set(
  'Record Readonly ReadonlyArray Array Set Map Partial Pick Omit'.split(' '),
);

/** Members by which a value leads to its class, and the class to all others. */
export const FORBIDDEN_MEMBERS: ReadonlySet<string> = new Set([
  ...'constructor prototype __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__'.split(
    ' ',
  ),
  ...'caller callee arguments prepareStackTrace captureStackTrace'.split(' '),
]);

/** The results of `typeof` that a fragment may compare with. None makes a function of a value. */
export const PLAIN_TYPES: ReadonlySet<string> = new Set(
  'string number boolean undefined object'.split(' '),
);

/**
 * Names that no declaration of a fragment may take: the same name elsewhere would mean the global
 * one.
 */
export const TAKEN: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...Object.keys(FUNCTION_NAMES),
  ...Object.keys(SCHEMA_NAMES),
  ...'require module exports arguments eval async await globalThis'.split(' '),
]);
