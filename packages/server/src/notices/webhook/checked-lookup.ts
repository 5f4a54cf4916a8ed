import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { NoticeError } from '../errors.ts';

/** The addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * A lookup for a connection: it gives only addresses that `isAllowed` accepts, and fails if a host
 * has any other. The connection uses the addresses that were checked, so a second answer of the
 * name server changes nothing.
 */
export function checkedLookup(isAllowed: (address: string) => boolean, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found;
        if (first === undefined || !found.every(({ address }) => isAllowed(address))) {
          callback(forbidden(), [], undefined);
        } else if (options.all === true) callback(null, [...found]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, [], undefined),
    );
  };
}

/** A connection to an address without a name looks nothing up. @throws NoticeError */
export function requireAllowedHost(hostname: string, isAllowed: (address: string) => boolean): void {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0 && !isAllowed(address)) throw forbidden();
}

function forbidden(): NoticeError {
  return new NoticeError(
    'receiver_forbidden',
    'The address of the webhook is not allowed. Set `allowPrivate` on a webhook in your own network.',
  );
}
