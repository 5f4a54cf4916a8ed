import { expect, test } from 'vitest';
import { desk, said } from '../../../../tests/support/domains/gateway/desk.ts';
import { definitionHash } from './index.ts';

const RULES = 'id: pins\ntrust: [fs]\nrules:\n  - { id: reads, allow: "*", class: read }\n';
const read = { name: 'read', annotations: { readOnlyHint: true } };

test('a pin that waits leaves the calls of the pinned definition alone', async () => {
  const { act, call } = await desk(RULES);
  await act('pin', { server: 'fs', tool: 'read', definition: read });
  const held = await act('pin', {
    server: 'fs',
    tool: 'read',
    definition: { ...read, description: 'x' },
  });
  expect(held.ruling).toBe('escalated');
  expect(said(await call('ada', 'fs/read', {}, { definition: definitionHash(read) }))).toBe(
    'committed',
  );
  expect(said(await act('pin', { server: 'fs', tool: 'write', definition: read }))).toBe(
    'committed',
  );
  expect(said(await call('ada', 'fs/write'))).toBe('committed');
});
