import { describe, expect, test } from 'vitest';
import { gateway } from '../gateway.ts';
import { readRules } from './read-rules.ts';
import { warningsOf } from './warnings.ts';

function faultsIn(text: string): string[] {
  try {
    readRules(text);
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad_rules' });
    return (error as Error).message.split('\n');
  }
}

const TOOLS = `id: team
tools:
  fs/read: { class: read, reads: /path }
`;

describe('a fault has file, line, column and a remedy', () => {
  test.each<[string, string, string[]]>([
    ['no id', 'default: ask\n', ['assize.yaml:1:1: /id is missing "id".']],
    [
      'an unknown name',
      'id: a\ndefualt: ask\n',
      ['assize.yaml:2:1: /defualt is not a known name here; correct or remove it.'],
    ],
    [
      'an unknown value',
      'id: a\ndefault: maybe\n',
      ['assize.yaml:2:10: /default invalid option: expected one of "allow"|"ask"|"deny".'],
    ],
    [
      'no effect',
      `${TOOLS}rules:\n  - id: x\n    because: none\n`,
      [
        'assize.yaml:5:5: /rules/0 needs exactly one of allow, deny and ask, with the tools to which it applies.',
      ],
    ],
    [
      'two effects',
      `${TOOLS}rules:\n  - { id: x, allow: fs/read, deny: fs/read }\n`,
      [
        'assize.yaml:5:5: /rules/0 needs exactly one of allow, deny and ask, with the tools to which it applies.',
      ],
    ],
    [
      'an undoing of no tool, and by no place of the call',
      'id: a\ntools:\n  fs/add: { undo: { tool: remove, args: { id: /id } } }\n',
      [
        'assize.yaml:3:27: /tools/fs~1add/undo/tool is not the name of a tool; write server/tool.',
        'assize.yaml:3:47: /tools/fs~1add/undo/args/id is not a place in the call; write /args/name or /result/name.',
      ],
    ],
    [
      'a presentation with a misspelled member and currency',
      'id: a\ntools:\n  bank/pay: { present: { titel: Pay, fields: { cents: { money: EUX } } } }\n',
      [
        'assize.yaml:3:26: /tools/bank~1pay/present/titel is not a known name here; correct or remove it.',
        'assize.yaml:3:64: /tools/bank~1pay/present/fields/cents/money is not a currency of ISO 4217; write one such as EUR, or the argument that has it.',
      ],
    ],
    [
      'observation without an end',
      'id: a\nmode: observe\nagents: ada\n',
      ['assize.yaml:2:7: /mode needs until: the day from which the rules hold.'],
    ],
    [
      'an end and agents without observation',
      'id: a\nagents: ada\nuntil: 2026-12-14\n',
      [
        'assize.yaml:2:9: /agents belongs to mode: observe.',
        'assize.yaml:3:8: /until belongs to mode: observe.',
      ],
    ],
    [
      'an end that is not a day',
      'id: a\nmode: observe\nuntil: 2026-02-30\n',
      ['assize.yaml:3:8: /until is not a day; write one such as 2026-12-14.'],
    ],
    [
      'an observed rule without an end, and one that allows',
      `${TOOLS}rules:\n  - { id: x, deny: fs/read, mode: observe }\n  - { id: y, allow: fs/read, mode: enforce }\n`,
      [
        'assize.yaml:5:35: /rules/0/mode needs until: the day from which the rule holds.',
        'assize.yaml:6:36: /rules/1/mode belongs to a rule with deny or ask.',
      ],
    ],
    [
      'a path with ..',
      `${TOOLS}rules:\n  - id: x\n    allow: fs/read\n    path: [/repo, /repo/../etc]\n`,
      [
        'assize.yaml:7:19: /rules/0/path/1 has the segment ..; write an absolute path such as /repo.',
      ],
    ],
    [
      'an id twice',
      `${TOOLS}rules:\n  - { id: x, allow: fs/read }\nlimits:\n  - { id: x, tools: fs/read, per: day, max: 1 }\n`,
      ['assize.yaml:7:11: /limits/0/id x is used already; give it another name.'],
    ],
    [
      'a condition',
      `${TOOLS}rules:\n  - id: x\n    deny: fs/read\n    where:\n      - { path: name, is: 1 }\n`,
      [
        'assize.yaml:8:17: /rules/0/where/0/path must be a JSON pointer: empty, or /name/name with ~0 and ~1.',
      ],
    ],
    [
      'a regular expression',
      `${TOOLS}rules:\n  - id: x\n    deny: fs/read\n    where:\n      - { path: /to, matches: '.*@a.com' }\n`,
      [
        'assize.yaml:8:31: /rules/0/where/0/matches has a star that is not a whole segment; matches is not a regular expression: a star stands for one whole segment, as in repo:* or s3:/bucket/**.',
      ],
    ],
    [
      'approvals of a rule that does not ask',
      `${TOOLS}rules:\n  - { id: x, deny: fs/read, approvals: 2 }\n`,
      ['assize.yaml:5:40: /rules/0/approvals belongs to a rule with ask.'],
    ],
    [
      'minutes of a rule that does not ask',
      `${TOOLS}rules:\n  - { id: x, deny: fs/read, minutes: 2 }\n`,
      ['assize.yaml:5:38: /rules/0/minutes belongs to a rule with ask.'],
    ],
    [
      'a tool without a server',
      'id: a\ntools:\n  read: { class: read }\n',
      ['assize.yaml:3:9: /tools/read is not the name of a tool; write server/tool.'],
    ],
    ['a name twice', 'id: a\nid: b\n', ['assize.yaml:2:1: is not YAML: Map keys must be unique.']],
    [
      'an alias',
      'id: &a x\ndefault: *a\n',
      [
        'assize.yaml:1:8: has an anchor; write the value out where it is needed.',
        'assize.yaml:2:10: is an alias; write the value out.',
      ],
    ],
    [
      'a tag',
      'id: !!js/function x\n',
      [
        'assize.yaml:1:5: is not YAML: Unresolved tag: tag:yaml.org,2002:js/function.',
        'assize.yaml:1:19: has the tag tag:yaml.org,2002:js/function; write the plain value.',
      ],
    ],
    ['broken YAML', 'id: [a\n', []],
    [
      'a step without an expectation',
      'id: a\ncases:\n  - name: n\n    steps:\n      - { call: fs/read }\n',
      ['assize.yaml:5:9: /cases/0/steps/0 needs expect: allow, deny or ask.'],
    ],
  ])('%s', (_, text, expected) => {
    const found = faultsIn(text);
    if (expected.length === 0) expect(found.length).toBeGreaterThan(0);
    else expect(found).toEqual(expected);
    for (const each of found) expect(each).toMatch(/^assize\.yaml:\d+:\d+: /);
  });
});

test('all faults are listed together', () => {
  const text = `${TOOLS}rules:\n  - { id: X, allow: fs/read }\n  - { id: y, allow: read }\n  - { id: z, allow: fs/read, hots: a }\n`;
  expect(faultsIn(text).map((each) => each.slice(0, 17))).toEqual(
    ['assize.yaml:5:11: ', 'assize.yaml:6:21: ', 'assize.yaml:7:30: '].map((each) =>
      each.slice(0, 17),
    ),
  );
});

test('the shorthands and their long forms are the same rules', () => {
  const short = readRules(
    'id: a\ntools:\n  fs/read: { reads: /p }\nrules:\n  - { id: x, allow: fs/read, path: /repo }\n',
  );
  const long = readRules(
    'id: a\ndefault: ask\nunknown: ask\ntrust: []\ntools:\n  fs/read: { reads: [/p] }\nrules:\n  - { id: x, path: [/repo], allow: [fs/read] }\nstanding: { uses: 100, hours: 24, amounts: {} }\n',
  );
  expect(short.rules).toEqual(long.rules);
});

describe('a presentation of a tool', () => {
  const PRESENTED = `${TOOLS}  bank/pay: { present: { title: "Pay {cents}", fields: { cents: { money: EUR } } } }\n`;

  test('a presentation is not a rule: the tool stays unknown, the rules the same', () => {
    const { rules, presented } = readRules(PRESENTED);
    expect(rules).toEqual(readRules(TOOLS).rules);
    expect(presented['bank/pay']).toMatchObject({ title: 'Pay {cents}' });
    expect(gateway({ rules, presented }).hash).toBe(gateway().hash);
  });

  test('is checked: a tool that nothing names, and a name near to a field', () => {
    const problems = (text: string) => warningsOf(readRules(text)).map(({ problem }) => problem);
    expect(problems(PRESENTED)).toEqual(['presents a tool that no rule and no server names']);
    const named = `${PRESENTED}rules:\n  - { id: x, ask: bank/pay }\ntrust: [bank]\n`;
    expect(problems(named)).toEqual([]);
    expect(problems(named.replace('{cents}', '{cent}'))).toEqual([
      'names cent, and its fields have cents',
    ]);
  });
});

describe('a rule that never applies is a warning', () => {
  const warned = (text: string) =>
    warningsOf(readRules(`${TOOLS}${text}`)).map(({ line, rule, problem, nearest }) => ({
      line,
      rule,
      problem,
      nearest,
    }));

  test('a misspelled tool, with the nearest name', () => {
    expect(warned('rules:\n  - { id: x, deny: fs/raed }\n')).toEqual([
      {
        line: 5,
        rule: 'x',
        problem: 'names the unknown tool fs/raed; the nearest is fs/read',
        nearest: 'fs/read',
      },
    ]);
  });

  test('a tool far from every name', () => {
    expect(warned('limits:\n  - { id: x, tools: bank/pay, per: day, max: 1 }\n')).toMatchObject([
      {
        rule: 'x',
        problem: 'names the unknown tool bank/pay; list it under tools',
        nearest: undefined,
      },
    ]);
  });

  test('hosts, amounts and writes that no tool declares', () => {
    const text =
      'rules:\n  - { id: h, deny: fs/read, host: a.com }\n  - { id: m, ask: fs/*, amount: { unit: eur, min: 1 } }\n' +
      'limits:\n  - { id: l, tools: fs/read, per: day, unit: eur, max: 1 }\nread_before_write:\n  - { id: w, tools: fs/read }\n';
    expect(warned(text).map(({ rule }) => rule)).toEqual(['h', 'm', 'l', 'w']);
  });

  test('a text with a space at its start or end, at its place', () => {
    const text =
      "rules:\n  - id: s\n    deny: fs/read\n    where:\n      - { path: /to, in: [ok, ' ada'] }\n" +
      "      - { path: /a, matches: 'x: ' }\n      - { path: /b, is: a b }\n";
    expect(warningsOf(readRules(`${TOOLS}${text}`)).map(({ pointer }) => pointer)).toEqual([
      '/rules/0/where/0/in/1',
      '/rules/0/where/1/matches',
    ]);
  });

  test('an ask on a position, and a runner that is allowed', () => {
    const text =
      'rules:\n  - { id: a, ask: shell/git, where: [{ path: /argv/0, is: push }] }\n' +
      '  - { id: b, allow: shell/git, where: [{ path: /argv/0, is: log }] }\n' +
      '  - { id: c, allow: [shell/npm, shell/ls] }\n  - { id: d, allow: shell/make, class: read }\n' +
      '  - { id: e, allow: shell/make, where: [{ path: /sandboxed, is: true }] }\n';
    expect(warningsOf(readRules(`${TOOLS}${text}`)).map(({ pointer }) => pointer)).toEqual([
      '/rules/0/where/0/path',
      '/rules/2/allow/0',
    ]);
  });

  test('a path rule that does not see the paths of a tool', () => {
    const text =
      'trust: [nfs]\nrules:\n  - { id: a, allow: nfs/get }\n  - { id: b, deny: [nfs/*, fs/*], path: /a }\n';
    expect(warned(text).map(({ problem }) => problem)).toEqual([
      'does not see the paths of nfs/get; list them under tools with reads or writes',
    ]);
  });

  test('registered tools are known too', () => {
    const file = readRules(`${TOOLS}rules:\n  - { id: x, deny: bank/pay }\n`);
    expect(warningsOf(file)).toHaveLength(1);
    expect(warningsOf(file, [{ name: 'bank.pay' }])).toEqual([]);
  });
});
