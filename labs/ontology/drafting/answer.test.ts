import { expect, test } from 'vitest';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';
import { parse } from '../parse.ts';
import { LIBRARY_ANSWER } from '../testing/library-answer.ts';
import { ANSWER_MAX, readAnswer } from './answer.ts';
import { derive } from './holes.ts';

const { holes } = derive(parse(LIBRARY));
const changed = (change: (answer: any) => void): string => {
  const answer = structuredClone(LIBRARY_ANSWER) as any;
  change(answer);
  return JSON.stringify(answer);
};

test('the holes are the open places, the processes and the invariants', () => {
  expect(holes.places).toEqual(['/titles', '/funds', '/limits/*', '/standing/*', '/loans/*']);
  expect(holes.processes).toEqual(['buying', 'admission', 'lending', 'returning']);
  expect(holes.invariants.filter(({ escalates }) => escalates).map(({ id }) => id)).toEqual([
    'LONG_LOANS',
  ]);
});

test('an answer is read with or without text around it', () => {
  const text = JSON.stringify(LIBRARY_ANSWER);
  for (const answer of [text, `Here:\n\`\`\`json\n${text}\n\`\`\`\n`, `<think>Hm.</think>${text}`])
    expect(readAnswer(answer, holes)).toEqual(LIBRARY_ANSWER);
});

test.each<readonly [string, string, RegExp]>([
  ['no JSON', 'I am sorry.', /not one JSON object/],
  ['too long', 'x'.repeat(ANSWER_MAX + 1), /more than 400000 characters/],
  ['without a schema', changed(({ schemas }) => delete schemas['/funds']), /~1funds/],
  ['with an invalid place', changed(({ schemas }) => (schemas['/other'] = 'z.string()')), /other/],
  ['with another member', changed((all) => (all.imports = ['node:fs'])), /imports/],
  [
    'with an unknown process',
    changed(({ actions }) => (actions[0].process = 'x')),
    /\/actions\/0\/process/,
  ],
  [
    'without an action of a process',
    changed(({ actions }) => actions.shift()),
    /no action belongs to this process/,
  ],
  [
    'with a name twice',
    changed(({ actions }) => (actions[1].name = 'buy')),
    /two actions have this name/,
  ],
  [
    'with an invalid name',
    changed(({ actions }) => (actions[0].name = 'constructor()')),
    /\/actions\/0\/name/,
  ],
  [
    'without an approval',
    changed(({ invariants }) => delete invariants.LONG_LOANS.onApprove),
    /onApprove/,
  ],
  [
    'with an approval of a refusal',
    changed(({ invariants }) => (invariants.LENT_ONCE.onApprove = 'x')),
    /onApprove/,
  ],
  [
    'without an example',
    changed(({ invariants }) => (invariants.LENT_ONCE.blocks = [])),
    /LENT_ONCE\/blocks/,
  ],
  [
    'with a long fragment',
    changed(({ actions }) => (actions[0].apply = 'x'.repeat(10_001))),
    /apply/,
  ],
  ['with a member twice', `{"schemas":{},"schemas":{}}`, /not one JSON object/],
])('an answer %s is a finding', (_, text, says) => {
  const {
    check,
    severity,
    where,
    says: said,
  } = readAnswer(text, holes) as never as Record<string, string>;
  expect([check, severity]).toEqual(['form', 'error']);
  expect(`${where} ${said}`).toMatch(says);
});
