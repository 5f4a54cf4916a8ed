import { expect, test } from 'vitest';
import { roleText, shortRoleText } from './role-text.ts';

test('a role shows its parameters, if it has any', () => {
  const clerk = { name: 'clerk', params: { desk: 'a', shift: 'late' } };
  expect([roleText(clerk), shortRoleText(clerk)]).toEqual([
    'clerk (desk: a, shift: late)',
    'clerk (a, late)',
  ]);
  for (const bare of [{ name: 'clerk', params: {} }, { name: 'clerk' }])
    expect([roleText(bare), shortRoleText(bare)]).toEqual(['clerk', 'clerk']);
});
