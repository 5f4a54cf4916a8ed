import { describe, expect, test } from 'vitest';
import { type Clock, createOracle, seededRandom } from '#oracle';
import { type Assize, type AssizeOptions, deepReplay, type Trajectory } from '#runtime';
import { MemoryStore } from '#stores';
import { chief, Model, newsroom, staff } from '../../tests/support/newsroom.ts';
import { HandClock, operator, runtimeOver } from '../../tests/support/runtime.ts';
import { type Agent, type RunOptions, replayRun, runAgents } from './index.ts';

/** A run on a store in memory, with all that it needs. */
async function desk(options: Partial<AssizeOptions> = {}, stories = 3) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const ticking: Clock = {
    now: () => {
      clock.forward(1);
      return clock.now();
    },
  };
  const model = new Model();
  const agents = staff(model, stories);
  const oracle = createOracle({ store, clock: ticking, mode: 'record' });
  const assize: Assize = runtimeOver(store, [newsroom], { oracle: store, clock: ticking, ...options });
  const trajectory: Trajectory = await assize.create(newsroom, { trajectoryId: 'desk' });
  const run = (more: Partial<RunOptions> = {}, who: readonly Agent[] = agents) =>
    runAgents(trajectory, who, {
      oracle,
      clock: ticking,
      random: seededRandom('run'),
      counsel: chief(),
      maxTurns: 60,
      ...more,
    });
  const replay = (who: readonly Agent[] = agents, more: Partial<AssizeOptions> = {}) =>
    replayRun({ store, oracleStore: store, trajectoryId: 'desk' }, newsroom, who, {
      anchors: [operator.publicKey],
      ...options,
      ...more,
    });
  return { store, clock, model, agents, oracle, assize, trajectory, run, replay };
}

describe('a run', () => {
  test('of three agents, a model, chance, time and a counselor replays to the same head', async () => {
    const { run, replay, store, model, trajectory } = await desk();
    const report = await run();
    const calls = model.calls;
    expect(report).toMatchObject({ head: trajectory.head });
    const kinds = (await store.entries('desk', { limit: 100 })).map(({ kind }) => kind);
    expect(kinds).toContain('pending_approval');
    expect(kinds).toContain('commit');
    const again = await replay();
    expect(again.firstDifference).toBeUndefined();
    expect(again).toMatchObject({ same: true, headId: trajectory.head, turns: report.turns, taken: 1 });
    expect(model.calls).toBe(calls);
    const deep = await deepReplay(store, 'desk', { domains: [newsroom], oracle: store } as never);
    expect(deep).toMatchObject({ differences: [] });
  });
});
