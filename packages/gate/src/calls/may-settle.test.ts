import { expect, test } from 'vitest';
import { gateway } from '#gateway';
import { maySettle } from './may-settle.ts';

test('an admin or an approver of the domain settles, and no other counselor', () => {
  const may = (principal: string, isAdmin: boolean) =>
    maySettle(gateway() as never, principal, isAdmin, 'report');
  expect([may('manager:grace', false), may('admin:root', true), may('legal:bob', false)]).toEqual([
    true,
    true,
    false,
  ]);
});
