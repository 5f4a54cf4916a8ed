/**
 * A link to a server on loopback, in a process of its own: `TARGET_PORT`. While the process is
 * stopped, nothing passes and every connection stays. The parent may send `cut`, after which
 * connections are closed as soon as they are made, and `mend`.
 */
import { Relay } from '../support/postgres/relay.ts';

const relay = await Relay.start(Number(process.argv[2]));
process.on('message', (word) => {
  relay.isClosed = word === 'cut';
  if (relay.isClosed) relay.cut();
});
process.on('disconnect', () => process.exit());
process.send?.(relay.port);
