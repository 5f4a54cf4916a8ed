import { RunRecords } from '@assize/agents/internal/agents';
import { expect, test } from 'vitest';
import { desk } from '../../../../tests/support/domains/gateway/desk.ts';
import { Metrics } from '../log/metrics.ts';
import { StuckWork } from './stuck-work.ts';

const RULES =
  'id: all\ntools:\n  bank/pay: { class: irreversible }\nrules:\n  - { id: all, allow: bank/pay }\n';

test('counts calls in doubt, and runs that no worker takes', async () => {
  const { act, assize, call, clock, store } = await desk(RULES);
  const failed: unknown[] = [];
  const stuck = new StuckWork({
    assize,
    store,
    worlds: ['desk'],
    clock,
    onFailure: (error) => failed.push(error),
  });
  const metrics = new Metrics();
  stuck.measure(metrics);
  const counted = async (): Promise<string[]> => {
    await stuck.count();
    const lines = metrics.text().split('\n');
    return lines
      .filter((line) => /^assize_(gateway_calls_in_doubt|durable_runs_stuck) /.test(line))
      .map((line) => line.slice(-1));
  };
  try {
    const runs = new RunRecords(store, clock);
    await runs.begin({ trajectoryId: 'run', agents: 'desk' });
    await call('ada', 'bank/pay');
    await call('ada', 'bank/pay');
    expect(await counted()).toEqual(['0', '0']);
    await act('report', { call: 'c1', outcome: 'unknown' }, 'ada');
    expect(await counted()).toEqual(['1', '0']);
    clock.forward(11 * 60_000);
    expect(await counted()).toEqual(['2', '1']);
    await act('report', { call: 'c1', outcome: 'done' }, 'ada');
    await act('report', { call: 'c2', outcome: 'done' }, 'ada');
    await runs.cancel('run');
    expect(await counted()).toEqual(['0', '0']);
  } finally {
    await stuck.stop();
  }
});
