import { Agent, RunContext, RunState } from '@openai/agents';
import { connectGate } from '#calls';
import * as agents from '#integrations/openai-agents';
import type { Case, Exempt } from './case.ts';
import { MADE, PATH, PORT, takes } from './table.ts';

const gate = () => connectGate({ url: 'http://127.0.0.1:9', token: 't', server: 'shop' });
const options = () => ({
  approver: () => 'manager:grace',
  run: () => 'r1',
  idempotent: ['look'],
  waitMs: 10,
});
const tool = () => ({ type: 'function', name: 'pay', invoke: async () => '' });
const state = () => new RunState(new RunContext(), 'go', new Agent({ name: 'a' }), 5);

export const OPENAI_AGENTS: Readonly<Record<string, Case | Exempt>> = {
  'undoTools of the OpenAI Agents SDK': takes(agents.undoTools as never, () => [[tool()]], {
    '0.0': PORT,
  }),
  'gatedTools of the OpenAI Agents SDK': takes(
    agents.gatedTools as never,
    () => [gate(), [tool()], options()],
    {
      0: MADE,
      '1.0': PORT,
    },
  ),
  'assizeAnswers of the OpenAI Agents SDK': takes(
    agents.assizeAnswers as never,
    () => [[tool()], [], {}],
    {
      0: PORT,
      1: PORT,
      2: PORT,
    },
  ),
  heldCalls: takes(agents.heldCalls as never, () => [state()], { 0: MADE }),
  runStateVault: takes(agents.runStateVault as never, () => [{ folder: '/nowhere/runs' }], {
    '0.folder': PATH,
  }),
};
