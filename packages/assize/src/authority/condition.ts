import type { Json } from '#base';
import { canonicalize, composedJson, parsePointer, toPointer } from '#canon';
import { type Name, nameContains, nameOf, readName } from './grammar.ts';
import type { Condition } from './rule.ts';

/** True, false, or the reason why it could not be evaluated. */
export type Test = (args: Json) => boolean | string;

/** Whether all tests hold. The first that does not hold, or cannot be evaluated, is the result. */
export function allHold(tests: readonly Test[], args: Json): boolean | string {
  for (const test of tests) {
    const holds = test(args);
    if (holds !== true) return holds;
  }
  return true;
}

/**
 * The condition as a test of whole arguments. Its pointer and pattern must have been parsed before.
 * `allows`: the condition belongs to a rule that allows. An unknown value does not meet it.
 */
export function compileCondition(condition: Condition, allows: boolean): Test {
  const { path, exists } = condition;
  const segments = parsePointer(path);
  const tests = compileTests(condition, allows);
  return (args) => {
    const found = argumentAt(args, segments);
    if ('problem' in found) return `the path ${path} does not exist: ${found.problem}`;
    const { value } = found;
    if (exists !== undefined && exists !== (value !== undefined)) return false;
    if (tests.length === 0) return true;
    if (value === undefined) return `the argument at ${path} is missing`;
    for (const test of tests) {
      const holds = test(value);
      if (typeof holds === 'string') return `the argument at ${path} ${holds}`;
      if (!holds) return false;
    }
    return true;
  };
}

function compileTests(condition: Condition, allows: boolean): readonly Test[] {
  const { min, max, matches } = condition;
  const tests: Test[] = [];
  for (const quantifier of ['any', 'all', 'only'] as const) {
    const values = condition[quantifier];
    if (values !== undefined) tests.push(ofList(quantifier, values, allows));
  }
  if (condition.is !== undefined) tests.push(equalTo([condition.is], true));
  if (condition.not !== undefined) tests.push(equalTo([condition.not], false));
  if (condition.in !== undefined) tests.push(equalTo(condition.in, true));
  if (condition.not_in !== undefined) tests.push(equalTo(condition.not_in, false));
  if (min !== undefined)
    tests.push((value) => (typeof value === 'number' ? value >= min : 'is not a number'));
  if (max !== undefined)
    tests.push((value) => (typeof value === 'number' ? value <= max : 'is not a number'));
  if (matches !== undefined) tests.push(matching(nameOf('scope', matches)));
  return tests;
}

/** Texts are compared in composed form (docs/decisions/022-equal-texts.md). */
function equalTo(values: readonly Json[], wanted: boolean): Test {
  const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null;
  const scalars = new Set(values.filter(isScalar).map(composedJson));
  const texts = new Set(
    values.filter((value) => !isScalar(value)).map((value) => canonicalize(composedJson(value))),
  );
  return (value) => {
    const found = isScalar(value)
      ? scalars.has(composedJson(value))
      : texts.has(canonicalize(composedJson(value)));
    return found === wanted;
  };
}

function ofList(
  quantifier: 'any' | 'all' | 'only',
  values: readonly Json[],
  allows: boolean,
): Test {
  const wanted = new Set(values.map(comparable));
  return (value) => {
    if (!Array.isArray(value)) return 'is not a list';
    const found = new Set(value.map(comparable));
    const isOpen = !allows && found.has(comparable('*'));
    if (quantifier === 'any') return isOpen || [...wanted].some((each) => found.has(each));
    if (quantifier === 'all') return isOpen || [...wanted].every((each) => found.has(each));
    return [...found].every((each) => wanted.has(each) || (isOpen && each === comparable('*')));
  };
}

function comparable(value: Json): string {
  return canonicalize(composedJson(value));
}

function matching(pattern: Name): Test {
  return (value) => {
    if (typeof value !== 'string') return 'is not a string';
    const name = readName('scope', value);
    if ('problem' in name) return name.problem;
    return name.concrete
      ? nameContains(pattern, name)
      : 'has a star where one exact name is needed';
  };
}

/**
 * The value at a path of own members, or undefined if there is no value. A container of another
 * shape on the path is a fault, not an absence. A lenient reader of the arguments could find a
 * forbidden value there, and the rule would not apply.
 */
function argumentAt(
  args: Json,
  segments: readonly string[],
): { readonly value: Json | undefined } | { readonly problem: string } {
  let value: Json | undefined = args;
  for (const [depth, key] of segments.entries()) {
    const above = toPointer(segments.slice(0, depth)) || 'the whole value';
    if (typeof value !== 'object' || value === null) return { problem: `${above} has no fields` };
    const isIndex = /^(?:0|[1-9]\d*)$/.test(key);
    if (Array.isArray(value) && !isIndex) return { problem: `${above} is a list` };
    if (!Object.hasOwn(value, key)) {
      // The value may stand in place of a list of such values.
      if (isIndex && !Array.isArray(value)) return { problem: `${above} is not a list` };
      return { value: undefined };
    }
    value = (value as { readonly [key: string]: Json })[key];
  }
  return { value };
}
