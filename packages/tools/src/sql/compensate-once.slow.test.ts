import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { PostgresStage } from '../../tests/support/sql-stage.ts';
import { sqlTool } from './index.ts';

withPostgres('a server', (postgres) => {
  let stage: PostgresStage;
  beforeAll(async () => {
    stage = await PostgresStage.open(postgres);
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  // As where the first one was taken for lost, and its commit was only slow; or another process has
  // taken over.
  test('concurrent repeated compensations compensate an effect once', async () => {
    const write = (what: string) => [
      { text: 'INSERT INTO log (what, size) VALUES ($1, 0)', values: [what] },
    ];
    const { spec } = sqlTool({
      name: 'note',
      input: z.strictObject({ what: z.string() }),
      writes: ['db:log'],
      database: stage.of(),
      delivery: 'externalised',
      statements: ({ what }) => write(what),
      undo: ({ what }) => write(`un${what}`),
    });
    const names = Array.from({ length: 10 }, (_, n) => `n${n}`);
    for (const what of names) {
      const call = { key: what, signal: new AbortController().signal, epoch: 1 };
      await spec.execute({ what }, call, []);
      await Promise.all([1, 2, 3].map(() => spec.compensate!({ what }, null, call)));
    }
    expect((await stage.look()).log).toEqual(names.flatMap((what) => [what, `un${what}`]));
  });
});
