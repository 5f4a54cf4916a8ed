import { MemoryStore } from '@assize/testing/memory';
import { budget } from '#domains/budget';
import * as architectures from '../../../labs/architectures/index.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, PORT, takes } from './table.ts';

const NONE = 'takes no arguments';
const chat = () => ({ id: 'x', ask: async () => ({ text: '', calls: [], stop: 'end' }) });
const agent = () => ({
  name: 'ada',
  role: { name: 'spender', params: { agent: 'ada' } },
  decide: () => ({ action: 'spend', args: { amount: 1 } }),
});

export const ARCHITECTURES: Readonly<Record<string, Case | Exempt>> = {
  compareArchitectures: takes(
    architectures.compareArchitectures as never,
    () => [
      budget,
      {
        ...{
          agents: [agent()],
          architectures: [architectures.microservices()],
          turns: 1,
          schedules: 2,
          seed: 1,
        },
        ...{
          states: [{ cap: 5, spent: {} }],
          at: '2026-01-01',
          signal: new AbortController().signal,
        },
        onProgress: () => undefined,
      },
    ],
    {
      0: 'made by defineDomain; that refused what was wrong with it',
      '1.architectures': PORT,
      '1.signal': PORT,
    },
  ),
  architecture: takes(architectures.architecture as never, () => [
    {
      name: 'own',
      adjudicator: () => ({ verdict: 'approve' }),
      discipline: architectures.commitApproved,
    },
  ]),
  judged: takes(
    architectures.judged as never,
    () => [
      {
        model: chat(),
        name: 'judge',
        brief: 'text',
        temperature: 0,
        maxTokens: 9,
        record: new MemoryStore(),
      },
    ],
    { '0.model': PORT, '0.record': PORT },
  ),
  microservices: exempt(NONE),
  kernel: exempt(NONE),
  commitApproved: exempt('called by an architecture alone, with values that it made'),
};
