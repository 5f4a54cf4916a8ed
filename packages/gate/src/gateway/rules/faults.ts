import { parseRuleTable } from 'assize/internal/authority';
import { isAssizeError, type Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import { readHostPattern } from '../judge/host-name.ts';
import { readPath, readPattern } from '../judge/path-name.ts';
import { SERVER, TOOL } from '../names.ts';
import { BUILT_IN, type Rules, type ToolSpec } from './rules.ts';

/** A place in rules that cannot be used, and the correction. */
export interface Fault {
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/** The faults of rules that fit the schema: pointers, paths, hosts, conditions and ids. */
export function faultsOf(rules: Rules): readonly Fault[] {
  return [
    ...modeFaults(rules),
    ...rules.tools.flatMap(toolFaults),
    ...repeated(rules),
    ...rules.rules.flatMap((rule, i) => {
      const at = (member: string): readonly (string | number)[] => ['rules', i, member];
      return [
        ...(rule.path ?? []).flatMap((path, n) => pathFault(path, [...at('path'), n])),
        ...(rule.host ?? []).flatMap((host, n) => hostFault(host, [...at('host'), n])),
        ...conditionFaults(rule.where, at('where')),
        ...(rule.effect === 'ask' ? [] : notAsking(rule.approvals, at('approvals'))),
        ...(rule.effect === 'ask' ? [] : notAsking(rule.minutes, at('minutes'))),
        ...(rule.effect === 'ask' ? [] : notAsking(rule.standing, at('standing'))),
        ...(rule.standing === true && rule.approvals === 2
          ? [{ path: at('standing'), problem: 'cannot be true where two approvals are needed' }]
          : []),
      ];
    }),
    ...rules.read_before_write.flatMap(({ path = [] }, i) =>
      path.flatMap((prefix, n) => pathFault(prefix, ['read_before_write', i, 'path', n])),
    ),
  ];
}

/** Observation has an end. A rule that allows refuses nothing, so it is not observed. */
function modeFaults(rules: Rules): Fault[] {
  const observed = { path: ['mode'], problem: 'needs until: the day from which the rules hold' };
  const stray = (member: string, path: Fault['path']): Fault => ({
    path: [...path, member],
    problem: `belongs to mode: observe`,
  });
  const lists = {
    rules: rules.rules,
    limits: rules.limits,
    read_before_write: rules.read_before_write,
    turns: rules.turns ?? [],
  };
  return [
    ...(rules.mode === 'observe' && rules.until === undefined ? [observed] : []),
    ...(['until', 'agents'] as const)
      .filter((member) => rules[member] !== undefined && rules.mode !== 'observe')
      .map((member) => stray(member, [])),
    ...Object.entries(lists).flatMap(([list, all]) =>
      all.flatMap((each, i) => {
        const path = [list, i];
        if (each.mode !== undefined && 'effect' in each && each.effect === 'allow')
          return [{ path: [...path, 'mode'], problem: 'belongs to a rule with deny or ask' }];
        if (each.until !== undefined && each.mode !== 'observe') return [stray('until', path)];
        return each.mode === 'observe' && each.until === undefined
          ? [
              {
                path: [...path, 'mode'],
                problem: observed.problem.replace('the rules hold', 'the rule holds'),
              },
            ]
          : [];
      }),
    ),
  ];
}

function toolFaults(
  { name, reads, writes, hosts, amounts, root, undo }: ToolSpec,
  i: number,
): Fault[] {
  const at = (...more: readonly (string | number)[]) => ['tools', i, ...more];
  return [
    ...(isToolName(name)
      ? []
      : [{ path: at('name'), problem: 'is not the name of a tool; write server/tool' }]),
    ...Object.entries({ reads, writes, hosts }).flatMap(([member, pointers = []]) =>
      pointers.flatMap((pointer, n) => pointerFault(pointer, at(member, n))),
    ),
    ...Object.entries(amounts ?? {}).flatMap(([unit, pointer]) =>
      pointerFault(pointer, at('amounts', unit)),
    ),
    ...(root === undefined ? [] : pathFault(root, at('root'), readPath)),
    ...undoFaults(undo, at),
  ];
}

function isToolName(name: string): boolean {
  const slash = name.indexOf('/');
  return slash > 0 && SERVER.test(name.slice(0, slash)) && TOOL.test(name.slice(slash + 1));
}

function undoFaults(
  undo: ToolSpec['undo'],
  at: (...more: readonly (string | number)[]) => readonly (string | number)[],
): Fault[] {
  if (undo === undefined) return [];
  const named = isToolName(undo.tool)
    ? []
    : [{ path: at('undo', 'tool'), problem: 'is not the name of a tool; write server/tool' }];
  return [
    ...named,
    ...Object.entries(undo.args).flatMap(([name, pointer]) => {
      const path = at('undo', 'args', name);
      if (!/^\/(?:args|result)(?:\/|$)/.test(pointer))
        return [{ path, problem: 'is not a place in the call; write /args/name or /result/name' }];
      return pointerFault(pointer, path);
    }),
  ];
}

/** Rulings name rules by their id, so an id is used once. */
function repeated({ rules, limits, read_before_write, turns = [], tools }: Rules): Fault[] {
  const seen = new Set<string>(Object.values(BUILT_IN));
  const ids = Object.entries({ rules, limits, read_before_write, turns }).flatMap(([list, all]) =>
    all.map(({ id }, i) => ({ id, path: [list, i, 'id'] })),
  );
  const names = tools.map(({ name }, i) => ({
    id: `the tool ${name}`,
    path: ['tools', i, 'name'],
  }));
  return [...ids, ...names].flatMap(({ id, path }) => {
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [{ path, problem: `${id} is used already; give it another name` }];
  });
}

function notAsking(given: unknown, path: readonly (string | number)[]): Fault[] {
  return given === undefined ? [] : [{ path, problem: 'belongs to a rule with ask' }];
}

function pathFault(
  prefix: string,
  path: readonly (string | number)[],
  reader: (given: string) => ReturnType<typeof readPattern> = readPattern,
): Fault[] {
  const read = reader(prefix);
  if ('problem' in read)
    return [{ path, problem: `${read.problem}; write an absolute path such as /repo` }];
  if (read.value === prefix) return [];
  return [{ path, problem: `is not in its composed form; write ${JSON.stringify(read.value)}` }];
}

function hostFault(host: string, path: readonly (string | number)[]): Fault[] {
  const read = readHostPattern(host);
  return 'problem' in read
    ? [{ path, problem: `${read.problem}; write example.com or *.example.com` }]
    : [];
}

function pointerFault(pointer: string, path: readonly (string | number)[]): Fault[] {
  try {
    parsePointer(pointer);
    return [];
  } catch (error) {
    if (isAssizeError(error))
      return [{ path, problem: 'is not a JSON pointer; write /name or /name/name' }];
    throw error;
  }
}

/** Conditions are those of rule tables, so a rule table checks them. */
function conditionFaults(where: unknown, path: readonly (string | number)[]): Fault[] {
  if (where === undefined) return [];
  const row = { id: 'x', effect: 'deny', actions: ['x'], where };
  try {
    parseRuleTable({ id: 'x', otherwise: 'deny', rules: [row] });
    return [];
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    const { pointer, problem } = error.evidence as { pointer?: string; problem?: string };
    const below = parsePointer(pointer ?? '').slice(3);
    const isPattern = below[1] === 'matches';
    return [
      {
        path: [...path, ...(isPattern ? below.slice(0, 2) : below).map(segmentOf)],
        problem: `${problem ?? error.message}${isPattern ? PATTERN_ADVICE : ''}`,
      },
    ];
  }
}

/** People who know other rules files expect a regular expression. */
const PATTERN_ADVICE =
  '; matches is not a regular expression: a star stands for one whole segment, as in repo:* or s3:/bucket/**';

function segmentOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** The rules as JSON, without members that are undefined. */
export function plainRules(rules: Rules): Json {
  return JSON.parse(JSON.stringify(rules)) as Json;
}
