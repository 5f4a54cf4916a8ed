import type {
  AndOr,
  Assignment,
  Case,
  Command,
  CompoundList,
  For,
  If,
  Pipeline,
  Select,
  SyntaxNode,
  TestExpression,
  Word,
} from 'unbash';
import { findWords, foundBy } from '../programs/search.ts';
import { afterPipeline } from './builtins.ts';
import { isEvaluated, readExpansions, readInner } from './expansions.ts';
import { after, either, equal, type Folders, type Outcome, same, unsure } from './folders.ts';
import type { Input, Reading } from './reading.ts';
import { readRedirections } from './redirections.ts';
import { type ShellWord, shellWord, shellWords, wordValues } from './shell-word.ts';
import { changesWhatRuns, variableOf } from './variable-names.ts';

/** The scripts of one text: `source` is the text that the positions of its nodes are in. */
interface Text {
  readonly reading: Reading;
  readonly source: string;
  readonly input?: Input;
}

/** Reads every command that a list could run. Returns the folders of the commands after it. */
export function readList(
  commands: CompoundList['commands'],
  reading: Reading,
  source: string,
  at: Folders,
): Outcome {
  return list(commands, { reading, source }, at);
}

function list(commands: CompoundList['commands'], text: Text, at: Folders): Outcome {
  let outcome = same(at);
  for (const { command, background } of commands) {
    const now = after(outcome);
    outcome = node(command, text, now);
    if (background === true) outcome = same(now);
  }
  return outcome;
}

function node(given: SyntaxNode, text: Text, from: Folders): Outcome {
  const { reading, source } = text;
  if (!reading.parts.step()) return same(from);
  // A command after one that does not return runs nowhere, unless the reading is wrong.
  const at = from.known.length === 0 && from.sure ? { ...from, sure: false } : from;
  switch (given.type) {
    case 'Command':
      return simple(given, text, at);
    case 'AndOr':
      return andOr(given, text, at);
    case 'Pipeline':
      return pipeline(given, text, at);
    case 'Redirected':
      readRedirections(given.redirects, reading, source, at);
      return node(given.command, text, at);
    case 'Subshell':
      list(given.body.commands, text, at);
      return same(at);
    case 'BraceGroup':
      return list(given.body.commands, text, at);
    case 'CompoundList':
      return list(given.commands, text, at);
    case 'If':
      return choice(given, text, at);
    case 'Case':
      return cases(given, text, at);
    case 'While':
      return loop(
        (from) => list(given.body.commands, text, list(given.clause.commands, text, from).ok),
        at,
      );
    case 'For':
    case 'Select':
      return loopOver(given, text, at);
    case 'ArithmeticFor':
      reading.parts.dynamic(source.slice(given.pos, given.end));
      for (const each of [given.initialize, given.test, given.update])
        if (each !== undefined) readExpansions(each, reading, source, at);
      return loop((from) => list(given.body.commands, text, from), at);
    case 'ArithmeticCommand':
      if (isEvaluated(given.body)) reading.parts.dynamic(source.slice(given.pos, given.end));
      if (given.expression !== undefined) readExpansions(given.expression, reading, source, at);
      return same(at);
    case 'TestCommand':
      condition(given.expression, text, at);
      return same(at);
    case 'Function':
      return definition(given.name, given.body, text, at);
    case 'Coproc':
      if (given.name !== undefined && changesWhatRuns(given.name.text))
        reading.parts.dynamic(given.name.text);
      node(given.body, text, at);
      return same(at);
    default:
      reading.parts.fail();
      return same(at);
  }
}

function andOr({ commands, operators }: AndOr, text: Text, at: Folders): Outcome {
  return commands.slice(1).reduce<Outcome>(
    (left, command, i) => {
      if (operators[i] === '&&') {
        const right = node(command, text, left.ok);
        return { ok: right.ok, failed: either(left.failed, right.failed) };
      }
      const right = node(command, text, left.failed);
      return { ok: either(left.ok, right.ok), failed: right.failed };
    },
    node(commands[0] as SyntaxNode, text, at),
  );
}

function pipeline({ commands, prefixes }: Pipeline, text: Text, at: Folders): Outcome {
  const outcomes = commands.map((command, i) => {
    const input = command.type === 'Command' ? printed(commands[i - 1], text, at) : undefined;
    return node(command, { ...text, input }, at);
  });
  const last = outcomes.at(-1) ?? same(at);
  if (outcomes.length > 1) return afterPipeline(at, last);
  const isNegated = prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1;
  return isNegated ? { ok: last.failed, failed: last.ok } : last;
}

/** The names that `find … -print0` gives the next program. */
function printed(given: SyntaxNode | undefined, { reading }: Text, at: Folders): Input {
  if (given?.type !== 'Command' || given.name?.text !== 'find') return undefined;
  if (given.prefix.length > 0 || reading.functions.has('find')) return undefined;
  const words = given.args.flatMap((word) =>
    word.type === 'Word' ? shellWords(word, reading, at) : [],
  );
  const { tests } = findWords(words);
  const actions = tests.filter(({ value }) =>
    /^-(?:f?print|f?ls|exec|ok|delete)/.test(value ?? ''),
  );
  const isPlain = actions.length === 1 && actions[0]?.value === '-print0';
  return isPlain && given.args.length <= words.length ? foundBy(words) : undefined;
}

function choice(given: If, text: Text, at: Folders): Outcome {
  let otherwise = list(given.clause.commands, text, at);
  let end = after(list(given.then.commands, text, otherwise.ok));
  for (const { clause, then } of given.elif) {
    otherwise = list(clause.commands, text, otherwise.failed);
    end = either(end, after(list(then.commands, text, otherwise.ok)));
  }
  const last =
    given.else === undefined
      ? otherwise.failed
      : after(list(given.else.commands, text, otherwise.failed));
  return same(either(end, last));
}

function cases({ word, items }: Case, text: Text, at: Folders): Outcome {
  inner(word, text, at);
  let end = at;
  for (const { pattern, body } of items) {
    for (const each of pattern) inner(each, text, at);
    // A case may fall through into the next one.
    end = either(end, after(list(body.commands, text, end)));
  }
  return same(end);
}

/** A loop whose body goes on into other folders each time may run in any folder. */
function loop(body: (at: Folders) => Outcome, at: Folders): Outcome {
  let from = at;
  for (let round = 0; round < 2; round++) {
    const end = either(from, after(body(from)));
    if (equal(end, from)) return same(end);
    from = end;
  }
  return same(unsure(either(from, after(body(unsure(from))))));
}

/** In the body of `for`, each value of its list is known, unless the body changes the variable. */
function loopOver(given: For | Select, text: Text, at: Folders): Outcome {
  const { reading } = text;
  const name = given.name.text;
  if (changesWhatRuns(name)) reading.parts.dynamic(name);
  const words = (given.wordlist ?? []).flatMap((word) => {
    inner(word, text, at);
    return shellWords(word, reading, at);
  });
  const values = words.flatMap((word) => wordValues(word) ?? '');
  const isKnown = given.type === 'For' && /^[a-z]/.test(name) && values.length > 0;
  reading.assigned.delete(name);
  if (isKnown && !values.includes('')) reading.variables.set(name, values);
  const outcome = loop((from) => list(given.body.commands, text, from), at);
  reading.variables.delete(name);
  if (isKnown && reading.assigned.has(name)) reading.parts.dynamic(`$${name}`);
  reading.assigned.add(name);
  return outcome;
}

function definition(name: Word, body: SyntaxNode, text: Text, at: Folders): Outcome {
  const called = shellWord(name, text.reading, at).value ?? name.text;
  text.reading.functions.add(called);
  // The shell itself calls these.
  if (/^command_not_found|^(?:chpwd|precmd|preexec|periodic|zshexit|TRAP)/.test(called))
    text.reading.parts.dynamic(called);
  node(body, text, unsure(at));
  return same(at);
}

/** The operands of numeric comparisons, and names of variables, are evaluated as arithmetic. */
function condition(given: TestExpression, text: Text, at: Folders): void {
  const { reading, source } = text;
  const words: Word[] = [];
  if (given.type === 'TestUnary') words.push(given.operand);
  else if (given.type === 'TestBinary') words.push(given.left, given.right);
  else if (given.type === 'TestLogical')
    for (const each of given.operands) condition(each, text, at);
  else condition(given.type === 'TestNot' ? given.operand : given.expression, text, at);
  const evaluates = 'operator' in given && /^-(?:v|R|eq|ne|lt|le|gt|ge)$/.test(given.operator);
  for (const word of words) {
    inner(word, text, at);
    if (evaluates && !/^-?\d+$/.test(word.text))
      reading.parts.dynamic(source.slice(given.pos, given.end));
  }
}

function simple(command: Command, text: Text, at: Folders): Outcome {
  return text.reading.parts.statement(() => statement(command, text, at));
}

function statement(command: Command, text: Text, at: Folders): Outcome {
  const { reading, source } = text;
  if (!isWhole(command, source)) reading.parts.fail();
  const assigned = command.prefix.filter((each) => each.type === 'Assignment');
  for (const each of assigned) assignment(each, text, at);
  readRedirections(command.redirects, reading, source, at);
  if (command.name === undefined) return same(at);
  const words = [
    argument(command.name, text, at),
    ...command.args.flatMap((word) => expanded(word, text, at)),
  ];
  const names = assigned.map(({ name }) => name);
  const isPiped = command.redirects.every(
    ({ type, operator }) => type === 'Redirect' && /^>/.test(operator),
  );
  const outcome = reading.program(words, names, at, isPiped ? text.input : undefined);
  // With a redirection that fails, `exit` and `cd` are not run.
  return command.redirects.length === 0
    ? outcome
    : { ok: outcome.ok, failed: either(at, outcome.failed) };
}

/** Whether only spaces are between the words. The parser leaves out some parentheses. */
function isWhole({ name, prefix, suffix }: Command, source: string): boolean {
  const words = [...prefix, ...(name === undefined ? [] : [name]), ...suffix];
  const gaps = words.slice(1).map((word, i) => source.slice((words[i] as Word).end, word.pos));
  const next = source.slice(words.at(-1)?.end);
  return gaps.every((gap) => /^(?:[ \t]|\\\n)*$/.test(gap)) && !/^(?:[ \t]|\\\n)*\(/.test(next);
}

function assignment(given: Assignment, text: Text, at: Folders): void {
  const { reading } = text;
  const { index, name, value } = given;
  reading.assigned.add(name);
  if (changesWhatRuns(name)) reading.parts.dynamic(given.text);
  if (index !== undefined) {
    if (!/^\d+$/.test(index.text)) reading.parts.dynamic(given.text);
    readExpansions(index, reading, text.source, at);
  }
  if (value.type === 'Word') inner(value, text, at);
  for (const element of value.type === 'ArrayValue' ? value.elements : []) {
    if (/^\[(?!\d+\])/.test(element.text)) reading.parts.dynamic(element.text);
    inner(element, text, at);
  }
}

function expanded(given: Word | Assignment, text: Text, at: Folders): readonly ShellWord[] {
  const word = argument(given, text, at);
  return given.type === 'Word' && word.value === null
    ? shellWords(given, text.reading, at)
    : [word];
}

function argument(given: Word | Assignment, text: Text, at: Folders): ShellWord {
  const { reading, source } = text;
  if (given.type === 'Word') {
    readExpansions(given, reading, source, at);
    return shellWord(given, reading, at);
  }
  assignment(given, text, at);
  const value = given.value.type === 'Word' ? shellWord(given.value, reading, at).value : null;
  const start = given.text.slice(0, given.value.pos - given.pos);
  const isPlain = variableOf(start) !== undefined && given.index === undefined;
  return { text: given.text, value: value === null || !isPlain ? null : start + value, prefix: '' };
}

function inner(word: Word, { reading, source }: Text, at: Folders): void {
  readInner(word, word.text, reading, source, at);
}
