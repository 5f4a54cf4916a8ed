import { api } from './client.ts';
import type { paths } from './openapi.d.ts';
import { type Problem, ProblemError } from './problem.ts';

/** The entries that a proof bundle is about: one entry, one approval, a person, or a period. */
export type BundleScope = NonNullable<paths['/v1/bundles']['get']['parameters']['query']>;

/** Makes a proof bundle on the server, and saves it as a file. Returns the name of the file. */
export async function saveBundle(scope: BundleScope): Promise<string> {
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

/** The browser reads the address of a download after the click. */
const READ_MS = 60_000;

function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), READ_MS);
}
