import { readRules } from '@assize/gate/internal/gateway';
import { expect, test } from 'vitest';
import { withRules } from './rules.ts';

const NOTES = {
  server: 'notes',
  tools: [
    { name: 'list', isRead: true },
    { name: 'add', isRead: false },
    { name: 'odd:', isRead: false },
  ],
};

const OWN = `# mine
id: own
trust: [fs] # trusted
rules:
  - { id: look, allow: 'fs/*' } # reading
  # the last
limits: []
`;

test('rules are added in the style of the file, and once', () => {
  const after = withRules(OWN, [NOTES]);
  expect(after).toBe(`# mine
id: own
trust: [fs, notes] # trusted
rules:
  - { id: look, allow: 'fs/*' } # reading
  - { id: notes-read, allow: [notes/list] }
  - { id: notes-change, ask: [notes/add, 'notes/odd:'] }
  # the last
limits: []
`);
  expect(withRules(after, [NOTES])).toBe(after);
});

test.each([
  'id: a\n',
  'id: a\ntrust: fs\nrules: []',
  'id: a\ntrust: []\nrules:\n- id: x\n  deny: fs/*\n\n',
  'id: a\r\nrules:\r\n  - { id: x, deny: fs/* }\r\n',
])('the rules count in %j', (text) => {
  const { rules } = readRules(withRules(text, [NOTES]));
  expect(rules.trust).toContain('notes');
  expect(rules.rules.map(({ id }) => id)).toEqual(expect.arrayContaining(['notes-read', 'notes-change']));
  expect(rules.rules.length).toBe(/id: x/.test(text) ? 3 : 2);
});
