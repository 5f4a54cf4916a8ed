import { isInstance } from 'assize/internal/base';
import { McpError } from './errors.ts';

type ClientPackage = typeof import('@modelcontextprotocol/client');
type ClientStdio = typeof import('@modelcontextprotocol/client/stdio');
type ServerPackage = typeof import('@modelcontextprotocol/server');
type ServerStdio = typeof import('@modelcontextprotocol/server/stdio');

/** The optional packages of the MCP SDK. @throws McpError `missing_package` */
export const loadClient: () => Promise<ClientPackage> = once(
  () => import('@modelcontextprotocol/client'),
);
export const loadClientStdio: () => Promise<ClientStdio> = once(
  () => import('@modelcontextprotocol/client/stdio'),
);
export const loadServer: () => Promise<ServerPackage> = once(
  () => import('@modelcontextprotocol/server'),
);
export const loadServerStdio: () => Promise<ServerStdio> = once(
  () => import('@modelcontextprotocol/server/stdio'),
);

/** Loads at most once, as even a loaded module costs some time. A failure is tried again. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= installed(load).catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

async function installed<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isInstance(cause, Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND')
      throw cause;
    throw new McpError(
      'missing_package',
      'The MCP SDK is not installed. Run npm install @modelcontextprotocol/client @modelcontextprotocol/server.',
      { cause },
    );
  }
}
