import { ServerError } from '@assize/command/operation';
import { type HttpLedger, httpLedger } from '@assize/gate/internal/mcp';
import { isAssizeError } from 'assize/internal/base';
import type { Hono } from 'hono';
import { type AppParts, ownRequests } from './app.ts';
import { admitMessage } from './requests/charged-body.ts';

/**
 * Adds `/mcp`: the ledger, the memory and the inbox for MCP clients that only read. Each tool is
 * a request to the API of this process, with the token of the client. Returns the end of it.
 */
export function addLedgerMcp(app: Hono, parts: AppParts): () => Promise<void> {
  let made: Promise<HttpLedger> | undefined;
  app.all('/mcp', async (context) => {
    const request = context.req.raw;
    const caller = await parts.authenticator.callerOf(request);
    // A page of another site can use a session, and never a token.
    if (caller.sessionId !== undefined)
      throw new ServerError(
        'forbidden',
        'An MCP client sends a token: Authorization: Bearer TOKEN.',
      );
    context.set('caller' as never, caller.name as never);
    await admitMessage(request, caller, parts);
    made ??= ledgerOf(parts);
    const ledger = await made;
    return ledger.fetch(request, { name: caller.name, ask: askingWith(app, parts, request) });
  });
  return async () => {
    const ledger = await made?.catch(() => undefined);
    await ledger?.close();
  };
}

/** @throws ServerError `not_found` without the optional MCP SDK */
async function ledgerOf({ operations, addresses, limits, logger }: AppParts): Promise<HttpLedger> {
  try {
    return await httpLedger({
      ...{ operations, url: addresses.origin, version: '1', maxBodyBytes: limits.bodyBytes },
      onWarning: (text) => logger.event('mcp_warning', { server: 'ledger', text }),
    });
  } catch (error) {
    if (!isAssizeError(error, 'missing_package')) throw error;
    throw new ServerError('not_found', `This server has no /mcp. ${error.message}`, {
      cause: error,
    });
  }
}

/** Asks the API of this process with the token of a request. */
export function askingWith(app: Hono, { addresses }: AppParts, request: Request) {
  const authorization = request.headers.get('authorization') ?? '';
  return async (path: string, init: RequestInit): Promise<Response> => {
    const url = new URL(path, addresses.origin);
    const own = new Request(url, {
      ...init,
      headers: { ...init.headers, authorization, host: url.host },
    });
    ownRequests.add(own);
    return app.fetch(own);
  };
}
