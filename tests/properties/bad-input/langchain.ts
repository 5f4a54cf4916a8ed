import { connectGate } from '#calls';
import * as langchain from '#integrations/langchain';
import type { Case, Exempt } from './case.ts';
import { MADE, PORT, takes } from './table.ts';

const gate = () => connectGate({ url: 'http://127.0.0.1:9', token: 't', server: 'shop' });
const options = () => ({
  approver: () => 'manager:grace',
  interrupts: 'hitl',
  thread: () => 't1',
  idempotent: ['look'],
  waitMs: 10,
});
const paused = () => ({
  id: 'i1',
  value: {
    actionRequests: [],
    reviewConfigs: [],
    assize: { call: 'c', approval: 'a', digest: 'd', reason: 'r' },
  },
});

export const LANGCHAIN: Readonly<Record<string, Case | Exempt>> = {
  assizeMiddleware: takes(langchain.assizeMiddleware as never, () => [gate(), options()], {
    0: MADE,
  }),
  gatedTools: takes(langchain.gatedTools as never, () => [gate(), [{ name: 'pay' }], options()], {
    0: MADE,
    '1.0': PORT,
  }),
  gatedToolNode: takes(langchain.gatedToolNode as never, () => [gate(), [], options()], {
    0: MADE,
    1: PORT,
  }),
  undoTools: takes(langchain.undoTools as never, () => [[{ name: 'pay' }]], { '0.0': PORT }),
  'assizeAnswers of LangChain': takes(
    langchain.assizeAnswers as never,
    () => [[], [], { configurable: {} }],
    {
      0: PORT,
      1: PORT,
      2: PORT,
    },
  ),
  answerTo: takes(langchain.answerTo as never, () => [paused(), { type: 'reject', message: 'no' }]),
};
