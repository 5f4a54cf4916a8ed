/**
 * The sink as a process of its own. The parent sends the path of a file, gets the address, and then
 * sends commands.
 */
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { SinkCommand } from './effect.ts';
import { SinkServer } from './sink-server.ts';

process.once('disconnect', () => process.exit());
process.once('message', (file: string) => {
  const sink = new SinkServer(file);
  sink.server.listen(0, '127.0.0.1', () => {
    const { port } = sink.server.address() as AddressInfo;
    process.on('message', ({ id, command }: { id: number; command: SinkCommand }) => {
      process.send?.({ id, state: sink.do(command) });
    });
    // The suite kills this process, so that its end writes nothing.
    flushCompileCache();
    process.send?.({ url: `http://127.0.0.1:${port}` });
  });
});
