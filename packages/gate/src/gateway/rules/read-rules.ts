import { arg, checkArgument } from 'assize/internal/base';
import { toPointer } from 'assize/internal/canon';
import type { Presentation } from 'assize/internal/kernel';
import type { z } from 'zod';
import { GatewayError } from '../errors.ts';
import { faultsOf } from './faults.ts';
import { enforcing, type Rules } from './rules.ts';
import {
  casesFile,
  effectsOf,
  normalised,
  type Written,
  type WrittenCase,
  written,
} from './written.ts';
import { type Place, readYaml, type YamlText } from './yaml-text.ts';

/** A fault of a rules file. */
export interface RulesFault extends Place {
  readonly file: string;
  /** JSON pointer into the file. */
  readonly pointer: string;
  readonly problem: string;
}

/** A rules file that was read. */
export interface RulesFile {
  readonly file: string;
  readonly rules: Rules;
  /** How people read the calls of tools, by `server/tool`. No part of the rules. */
  readonly presented: Readonly<Record<string, Presentation>>;
  readonly cases: readonly ReadCase[];
  /** The place of a part of the normal form of the rules, and its pointer into the file. */
  readonly placeOf: (path: readonly (string | number)[]) => Place & { readonly pointer: string };
}

/** A case with its place in its file. */
export interface ReadCase extends WrittenCase {
  readonly place: Place;
  readonly file: string;
}

type Path = readonly (string | number)[];

/**
 * Reads `assize.yaml` with its cases. JSON is YAML too.
 *
 * @throws GatewayError `bad_rules` with file, line and column of every fault
 */
export function readRules(text: string, file: string = 'assize.yaml'): RulesFile {
  checkArgument(arg.text, text, 'text');
  checkArgument(arg.text, file, 'file');
  const yaml = parsed(text, file);
  const value = checked(yaml, written, file);
  const faults = new Faults(yaml, file);
  for (const [i, rule] of (value.rules ?? []).entries()) {
    if (effectsOf(rule).length !== 1)
      faults.add(
        ['rules', i],
        'needs exactly one of allow, deny and ask, with the tools to which it applies',
      );
  }
  faults.throwAny();
  const normal = normalised(value);
  for (const { path, problem } of faultsOf(normal.rules)) faults.add(normal.written(path), problem);
  for (const [path, problem] of stepFaults(value.cases ?? [])) faults.add(path, problem);
  faults.throwAny();
  return {
    file,
    rules: normal.rules,
    presented: normal.presented,
    cases: casesOf(value.cases ?? [], yaml, file),
    placeOf: (path) => {
      const inFile = normal.written(path);
      return { pointer: toPointer(inFile.map(String)), ...yaml.placeOf(inFile) };
    },
  };
}

/** A set of rules that only judges, until a day. */
export interface TrialSet {
  readonly rules: Rules;
  readonly until: string;
}

/** The name of the trial set of `FILE.yaml`: `FILE.trial.yaml`. */
export function trialFileOf(file: string): string {
  checkArgument(arg.text, file, 'file');
  return file.replace(/\.(ya?ml)$/i, '.trial.$1');
}

/**
 * Reads a trial set: a rules file that only observes, the calls of every agent.
 *
 * @throws GatewayError `bad_rules`
 */
export function readTrial(text: string, file: string): TrialSet {
  const { rules, placeOf } = readRules(text, file);
  const { mode, until, agents } = rules;
  if (mode === 'observe' && until !== undefined && agents === undefined)
    return { rules: enforcing(rules), until };
  const problem = 'is a trial set; it needs mode: observe and until: DAY, without agents';
  throw badRules([{ file, ...placeOf(['id']), problem }]);
}

/**
 * Reads a file of cases that stands beside the rules.
 *
 * @throws GatewayError `bad_rules`
 */
export function readCases(text: string, file: string): readonly ReadCase[] {
  checkArgument(arg.text, text, 'text');
  checkArgument(arg.text, file, 'file');
  const yaml = parsed(text, file);
  const { cases } = checked(yaml, casesFile, file);
  const faults = new Faults(yaml, file);
  for (const [path, problem] of stepFaults(cases)) faults.add(path, problem);
  faults.throwAny();
  return casesOf(cases, yaml, file);
}

function casesOf(cases: readonly WrittenCase[], yaml: YamlText, file: string): ReadCase[] {
  return cases.map((each, i) => ({ ...each, file, place: yaml.placeOf(['cases', i]) }));
}

function* stepFaults(cases: NonNullable<Written['cases']>): Generator<[Path, string]> {
  for (const [i, { steps }] of cases.entries()) {
    for (const [n, { call, stand, expect, args, outcome, at }] of steps.entries()) {
      const path = ['cases', i, 'steps', n];
      if ((call === undefined) === (stand === undefined))
        yield [path, 'needs exactly one of call and stand'];
      if (call !== undefined && expect === undefined)
        yield [path, 'needs expect: allow, deny or ask'];
      if (stand !== undefined && (args !== undefined || outcome !== undefined))
        yield [path, 'has args or outcome; these belong to a call'];
      if (at !== undefined && !TIME.test(at))
        yield [
          [...path, 'at'],
          'is not a time; write 2026-03-01T09:00:00Z, or +90m for 90 minutes after the step before',
        ];
    }
  }
}

const TIME = /^(?:\+\d+[smhd]|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?Z)$/;

function parsed(text: string, file: string): YamlText {
  const yaml = readYaml(text);
  if (!('faults' in yaml)) return yaml;
  throw badRules(yaml.faults.map((fault) => ({ file, pointer: '', ...fault })));
}

function checked<T>(yaml: YamlText, schema: z.ZodType<T>, file: string): T {
  const result = schema.safeParse(yaml.value);
  if (result.success) return result.data;
  const faults = new Faults(yaml, file);
  for (const issue of result.error.issues) addIssue(faults, issue, []);
  faults.throwAny();
  throw result.error;
}

/** An issue of a union is that of its closest option, so that the fault names the right member. */
function addIssue(faults: Faults, issue: z.core.$ZodIssue, above: Path): void {
  const path = [...above, ...(issue.path as Path)];
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys)
      faults.add([...path, key], 'is not a known name here; correct or remove it', true);
    return;
  }
  if (issue.code === 'invalid_union') {
    const closest = [...issue.errors].sort((a, b) => depthOf(b) - depthOf(a))[0] ?? [];
    for (const each of closest) addIssue(faults, each, path);
    return;
  }
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  faults.add(path, isMissing ? `is missing ${JSON.stringify(path.at(-1))}` : lower(issue.message));
}

function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(
    0,
    ...issues.map(({ path, code }) => path.length * 2 + (code === 'invalid_type' ? 0 : 1)),
  );
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

class Faults {
  readonly #found: RulesFault[] = [];
  readonly #yaml: YamlText;
  readonly #file: string;

  constructor(yaml: YamlText, file: string) {
    this.#yaml = yaml;
    this.#file = file;
  }

  add(path: Path, problem: string, isKey: boolean = false): void {
    this.#found.push({
      file: this.#file,
      pointer: toPointer(path.map(String)),
      ...this.#yaml.placeOf(path, isKey),
      problem,
    });
  }

  throwAny(): void {
    if (this.#found.length > 0) throw badRules(this.#found);
  }
}

function badRules(faults: readonly RulesFault[]): GatewayError {
  const ordered = [...faults].sort((a, b) => a.line - b.line || a.column - b.column);
  const message = ordered.map(faultText).join('\n');
  return new GatewayError('bad_rules', message, { evidence: { faults: ordered } });
}

/** `assize.yaml:12:5: /rules/0/path/0 is not an absolute path`. */
export function faultText({ file, line, column, pointer, problem }: RulesFault): string {
  return `${file}:${line}:${column}: ${pointer === '' ? '' : `${pointer} `}${problem}.`;
}
