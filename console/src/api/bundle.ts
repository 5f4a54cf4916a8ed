import { api, dataOf } from './client.ts';
import type { paths } from './openapi.d.ts';
import { type Problem, ProblemError } from './problem.ts';

/** The entries that a proof bundle is about: one entry, one approval, a person, or a period. */
export type BundleScope = NonNullable<paths['/v1/bundles']['get']['parameters']['query']>;

/**
 * Makes a proof bundle on the server, and saves it as a file. Returns the name of the file. The
 * approval of a scope is an id, or TRAJECTORY@SEQ.
 */
export async function saveBundle(asked: BundleScope): Promise<string> {
  const scope = await withApprovalId(asked);
  const { data, error, response } = await api.GET('/v1/bundles', {
    params: { query: scope },
    parseAs: 'blob',
  });
  if (data === undefined) throw new ProblemError(error as Problem);
  const name =
    /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ??
    'proof-bundle.zip';
  save(data as unknown as Blob, name);
  return name;
}

/** The server names an approval by its id only. @throws ProblemError */
async function withApprovalId(scope: BundleScope): Promise<BundleScope> {
  const { approval } = scope;
  if (approval === undefined || !approval.includes('@')) return scope;
  const { id } = await dataOf(
    api.GET('/v1/entries/{entry}', { params: { path: { entry: approval } } }),
  );
  return { ...scope, approval: id };
}

/** The browser reads the address of a download after the click. */
const READ_MS = 60_000;

function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), READ_MS);
}
