import { afterEach, beforeEach, expect, test } from 'vitest';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { blockOf } from '../../../tests/support/process/guide-files.ts';
import {
  type ListeningServer,
  startServer,
} from '../../../tests/support/process/listening-server.ts';
import { ServedGuide } from '../../../tests/support/process/served-guide.ts';

const PAGE = 'server.md';

withPostgres('server.md on PostgreSQL', (postgres) => {
  let guide: ServedGuide;
  let servers: ListeningServer[] = [];
  beforeEach(async () => {
    guide = await ServedGuide.begin();
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    servers = [];
    await guide.end();
  });

  test('two servers share tokens, trajectories and idempotency keys', async () => {
    const store = postgres.url('served');
    guide.write(PAGE);
    guide.sh(blockOf(PAGE, 'sh postgres').replace(/ASSIZE_STORE=\S+/, `ASSIZE_STORE='${store}'`));
    const env = { ASSIZE_STORE: store, ASSIZE_ROOT_KEY_FILE: 'root.key' };
    const start = () => startServer(guide.folder, ['--port', '0'], { env });
    servers = [await start(), await start()];
    const token = guide.sh('assize token create agent:scout').trim();
    const rulings = await Promise.all(
      servers.map(async ({ url }) => {
        const answer = await fetch(`${url}/v1/trajectories/office/proposals`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'idempotency-key': 'once',
          },
          body: JSON.stringify({
            action: 'buy',
            role: 'buyer',
            args: { order: 'a1', item: 'paper', euros: 40 },
          }),
        });
        return answer.json();
      }),
    );
    expect(rulings[0]).toMatchObject({ ruling: 'committed', seq: 1 });
    expect(rulings[1]).toEqual(rulings[0]);
  });
});
