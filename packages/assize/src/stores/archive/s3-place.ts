import { createHash } from 'node:crypto';
import { StoreError } from '../errors.ts';
import type { ArchivePlace } from './place.ts';
import { type S3Environment, s3Environment } from './s3-environment.ts';

/** An answer of a store of objects is awaited this long. */
const TIMEOUT_MS = 60_000;

/** Attempts after the first one, for answers with status 429 or 5xx. */
const RETRIES = 4;

/** The part of the client of `aws4fetch` that is used here. */
interface Client {
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/**
 * An archive in a bucket of an S3-compatible object store: one object a file. Requests are signed
 * with the keys of the environment (AWS Signature Version 4). No place and no message has a key.
 */
export class S3Place implements ArchivePlace {
  readonly name: string;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #env: S3Environment;
  #client: Promise<Client> | undefined;

  /** `env`: default that of the process. */
  constructor(bucket: string, prefix: string, env: S3Environment = s3Environment()) {
    this.#bucket = bucket;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.#env = env;
    this.name = `s3:${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  }

  async read(name: string): Promise<Buffer | undefined> {
    const answer = await this.#ask('read', name, { method: 'GET' });
    return answer.status === 404 ? undefined : answer.body;
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const body = new Uint8Array(bytes);
    const hash = createHash('sha256').update(body).digest('hex');
    const headers = { 'content-type': 'application/gzip', 'x-amz-content-sha256': hash };
    const { status } = await this.#ask('written', name, { method: 'PUT', body, headers });
    if (status === 404) throw this.#failed('written', name, 'the bucket does not exist');
  }

  async remove(name: string): Promise<void> {
    await this.#ask('deleted', name, { method: 'DELETE' });
  }

  async #ask(
    what: string,
    name: string,
    init: RequestInit,
  ): Promise<{ readonly status: number; readonly body: Buffer }> {
    const client = await this.#connected(what, name);
    let answer: Response;
    let body: Buffer;
    try {
      answer = await client.fetch(this.#url(name), {
        ...init,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      body = Buffer.from(await answer.arrayBuffer());
    } catch (cause) {
      throw this.#failed(what, name, causeOf(cause), cause);
    }
    if (answer.ok || answer.status === 404) return { status: answer.status, body };
    // The body names the fault, and has no secret.
    throw this.#failed(what, name, `HTTP ${answer.status} ${codeIn(body.toString())}`.trim());
  }

  #connected(what: string, name: string): Promise<Client> {
    this.#client ??= this.#connect(what, name);
    return this.#client;
  }

  async #connect(what: string, name: string): Promise<Client> {
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = this.#env;
    if (accessKeyId === undefined || secretAccessKey === undefined)
      throw this.#failed(what, name, 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set');
    const { AwsClient } = await loadAws4fetch();
    const sessionToken = this.#env['AWS_SESSION_TOKEN'];
    return new AwsClient({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      region: this.#region,
      retries: RETRIES,
    });
  }

  get #region(): string {
    return this.#env['AWS_REGION'] ?? this.#env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  }

  /** Another endpoint than that of AWS has the bucket in the path, as most of them do. */
  #url(name: string): string {
    const endpoint = this.#env['AWS_ENDPOINT_URL_S3'] ?? this.#env['AWS_ENDPOINT_URL'];
    const key = `${this.#prefix}${name}`;
    return endpoint === undefined
      ? `https://${this.#bucket}.s3.${this.#region}.amazonaws.com/${key}`
      : `${endpoint.replace(/\/+$/, '')}/${this.#bucket}/${key}`;
  }

  #failed(what: string, name: string, why: string, cause?: unknown): StoreError {
    return new StoreError(
      'store_failed',
      `The file ${name} could not be ${what} in ${this.name}: ${why}. Remove the cause, and repeat the command.`,
      { evidence: { archive: this.name, file: name }, retryable: true, cause },
    );
  }
}

async function loadAws4fetch(): Promise<typeof import('aws4fetch')> {
  try {
    return await import('aws4fetch');
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND')
      throw cause;
    throw new StoreError(
      'store_failed',
      'The package aws4fetch, which an archive in an object store needs, is not installed. Run npm install aws4fetch.',
      { cause },
    );
  }
}

/** `fetch` has the reason of a lost connection as the cause of its error. */
function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}

/** The code in an error document of S3, such as `AccessDenied`. */
function codeIn(body: string): string {
  return /<Code>([A-Za-z]{1,60})<\/Code>/.exec(body)?.[1] ?? '';
}
