import { connectGate } from '#calls';
import * as mastra from '#integrations/mastra';
import type { Case, Exempt } from './case.ts';
import { MADE, PORT, takes } from './table.ts';

const gate = () => connectGate({ url: 'http://127.0.0.1:9', token: 't', server: 'shop' });
const options = () => ({
  approver: () => 'manager:grace',
  identity: () => ({ run: 'r1', id: 'c1' }),
  idempotent: ['look'],
  waitMs: 10,
});
const tool = () => ({ id: 'pay', execute: async () => 'paid' });
const suspension = () => ({
  ...{ tool: 'pay', args: { to: 'bob' }, message: 'm' },
  assize: { call: 'c', approval: 'a', digest: 'd', reason: 'r' },
});

/** By other names than the functions of other integrations, because these are named alike. */
export const MASTRA: Readonly<Record<string, Case | Exempt>> = {
  'gatedTools of Mastra': takes(
    mastra.gatedTools as never,
    () => [gate(), { pay: tool() }, options()],
    {
      0: MADE,
      '1.pay': PORT,
    },
  ),
  'undoTools of Mastra': takes(mastra.undoTools as never, () => [[tool()]], { '0.0': PORT }),
  'answerTo of Mastra': takes(mastra.answerTo as never, () => [
    suspension(),
    { decision: 'reject', reason: 'no' },
  ]),
};
