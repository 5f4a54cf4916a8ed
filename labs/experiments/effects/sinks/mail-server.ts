import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { FaultsError } from '../errors.ts';
import type { Fault } from '../schedule.ts';

/** A mail server on this machine, with its own log of accepted messages: the subjects, in order. */
export interface MailServer extends AsyncDisposable {
  /** As a transport has it. */
  readonly url: string;
  readonly taken: readonly string[];
}

/**
 * `faultOf`: the fault of the next message to an address. `exception`: the server refuses its
 * recipient for now. `lost`: the server accepts the message, and the connection ends without an
 * answer.
 *
 * @throws FaultsError `not_installed` without the optional peer `smtp-server`
 */
export async function openMailServer(
  faultOf: (address: string) => Fault = () => 'none',
): Promise<MailServer> {
  const { SMTPServer } = await import('smtp-server').catch((cause: unknown) => {
    throw new FaultsError(
      'not_installed',
      'A mail server on this machine needs the package smtp-server; run npm install smtp-server.',
      { cause },
    );
  });
  const taken: string[] = [];
  /** Sessions in which the message is accepted without an answer. */
  const losing = new Set<string>();
  /** By the port that they come from. */
  const sockets = new Map<number, Socket>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onRcptTo: ({ address }, { id }, done) => {
      const fault = faultOf(address);
      if (fault === 'lost') losing.add(id);
      done(
        fault === 'exception' ? Object.assign(new Error('not now'), { responseCode: 451 }) : null,
      );
    },
    onData: (stream, { id, remotePort }, done) => {
      stream.toArray().then((chunks) => {
        taken.push(/^subject: *(.*?)\r?$/im.exec(Buffer.concat(chunks).toString())?.[1] ?? '');
        if (losing.delete(id)) sockets.get(remotePort)!.destroy();
        else done();
      }, done);
    },
  });
  server.server.on('connection', (socket: Socket) => {
    const port = socket.remotePort!;
    sockets.set(port, socket);
    socket.on('close', () => sockets.delete(port));
  });
  // Connections that end early are the client's to tell.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    taken,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
