/** An archive in an object store, against a server that checks every signature by itself. */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archivePlace } from './open-place.ts';
import { S3Place } from './s3-place.ts';

const KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const REGION = 'eu-central-1';
const NAME = '000000000000-entries-000000000000-1-ab.gz';

const objects = new Map<string, Buffer>();
/** The status of the next answers, before the server works again. */
let faults: number[] = [];
let server: Server;
let endpoint: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const fault = faults.shift();
    if (fault !== undefined)
      return void response.writeHead(fault).end('<Error><Code>SlowDown</Code></Error>');
    if (
      signatureOf(request, body) !==
      /Signature=([0-9a-f]+)/.exec(request.headers.authorization ?? '')?.[1]
    )
      return void response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    const path = request.url!;
    if (!path.startsWith('/bucket/'))
      return void response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    if (request.method === 'PUT') objects.set(path, body);
    if (request.method === 'DELETE') objects.delete(path);
    const found = objects.get(path);
    if (request.method === 'GET' && found === undefined) return void response.writeHead(404).end();
    response
      .writeHead(request.method === 'DELETE' ? 204 : 200)
      .end(request.method === 'GET' ? found : undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function signatureOf({ method, url, headers }: IncomingMessage, body: Buffer): string {
  const authorization = headers.authorization ?? '';
  const signed = /SignedHeaders=([^,]+)/.exec(authorization)?.[1] ?? '';
  const date = String(headers['x-amz-date']);
  const given = String(headers['x-amz-content-sha256']);
  // The body belongs to the signature.
  if (body.length > 0 && given !== sha256(body)) return 'the body has another hash';
  if (!authorization.startsWith(`AWS4-HMAC-SHA256 Credential=${KEYS.AWS_ACCESS_KEY_ID}/`))
    return 'another key';
  const canonical = [
    method,
    url,
    '',
    ...signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signed,
    given,
  ].join('\n');
  const scope = `${date.slice(0, 8)}/${REGION}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const day = hmac(`AWS4${KEYS.AWS_SECRET_ACCESS_KEY}`, date.slice(0, 8));
  return hmac(hmac(hmac(hmac(day, REGION), 's3'), 'aws4_request'), text).toString('hex');
}

const placeWith = (env: Record<string, string>, bucket = 'bucket'): S3Place =>
  new S3Place(bucket, 'one/two', { AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: REGION, ...env });

test('writes, reads and deletes objects with signed requests', async () => {
  const place = placeWith(KEYS);
  const bytes = Buffer.from([0, 1, 2, 255]);
  expect(await place.read(NAME)).toBeUndefined();
  await place.write(NAME, bytes);
  expect([...objects.keys()]).toEqual([`/bucket/one/two/${NAME}`]);
  expect(await place.read(NAME)).toEqual(bytes);
  await place.remove(NAME);
  await place.remove(NAME);
  expect(await place.read(NAME)).toBeUndefined();
});

test('repeats a request that the server could not serve', async () => {
  const place = placeWith(KEYS);
  faults = [503, 429];
  await place.write(NAME, Buffer.from('x'));
  expect(faults).toEqual([]);
  expect((await place.read(NAME))?.toString()).toBe('x');
});

test('names the fault, and never a key', async () => {
  const secret = KEYS.AWS_SECRET_ACCESS_KEY;
  const wrong = placeWith({ ...KEYS, AWS_SECRET_ACCESS_KEY: `${secret}x` });
  const refused = await wrong.read(NAME).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'store_failed',
    message: `The file ${NAME} could not be read in s3:bucket/one/two: HTTP 403 SignatureDoesNotMatch. Remove the cause, and repeat the command.`,
  });
  expect(JSON.stringify(refused) + String((refused as Error).stack)).not.toContain(secret);
  await expect(placeWith({}).read(NAME)).rejects.toMatchObject({
    message: expect.stringContaining('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set'),
  });
  await expect(placeWith(KEYS, 'other').write(NAME, Buffer.from('x'))).rejects.toMatchObject({
    message: expect.stringContaining('the bucket does not exist'),
  });
  const away = placeWith({ ...KEYS, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' });
  await expect(away.read(NAME)).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringMatching(/Remove the cause, and repeat|The package aws4fetch, which an/),
    retryable: true,
  });
});

test.each([
  'folder',
  'file:',
  's3:',
  's3:Bucket',
  's3:bucket/../other',
  's3:bucket/a//b',
  's3:bucket/a?b',
  's3:user:password@bucket',
  'https://bucket/a',
])('%s is not a place', (name) => {
  expect(() => archivePlace(name)).toThrow(
    expect.objectContaining({
      code: 'store_unknown',
      message: expect.stringContaining('The place of the archive is not'),
    }),
  );
});

test.each([
  ['s3:bucket', 's3:bucket'],
  ['s3:bucket/', 's3:bucket'],
  ['s3:bucket.eu/a/b.c/', 's3:bucket.eu/a/b.c'],
])('%s is %s', (name, known) => {
  expect(archivePlace(name).name).toBe(known);
});
