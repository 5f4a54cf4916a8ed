import { systemRandom } from 'assize/internal/oracle';
import { createFacts } from './facts.ts';
import { openSession, type Session, unreachable } from './session.ts';

/** A schema of its own on a server, with a bare store in it, and connections. */
export interface TestSchema {
  /** The connection for preparation before a run and for checks after it. */
  readonly judge: Session;
  /** Returns `count` other sessions. The sessions that were open stay the same. */
  writers(count: number): Promise<readonly Session[]>;
  /** As the server says it: `18.4`. */
  readonly version: string;
  /** An unused subject. */
  subject(): string;
}

/**
 * Works in a new schema. It is dropped afterwards in every case. No other object on the server
 * is read or changed.
 * @throws AnomalyError `not_installed`, `bad_url`, `unreachable`; the errors of `work`
 */
export async function withTestSchema<Made>(
  url: string,
  work: (ground: TestSchema) => Promise<Made>,
): Promise<Made> {
  const judge = await openSession(url);
  const schema = `assize_anomalies_${Buffer.from(systemRandom.bytes(8)).toString('hex')}`;
  const writers: Session[] = [];
  let subjects = 0;
  const opened = async (): Promise<Session> => {
    const session = await openSession(url);
    writers.push(session);
    await session.rows(`SET search_path TO ${schema}`);
    return session;
  };
  try {
    const [[version = ''] = []] = (await judge.rows('SHOW server_version')) as readonly string[][];
    await judge.rows(`CREATE SCHEMA ${schema}`).catch((error: unknown) => {
      throw unreachable(error);
    });
    await judge.rows(`SET search_path TO ${schema}`);
    await createFacts(judge);
    return await work({
      judge,
      version: version.split(' ')[0] as string,
      subject: () => `s${++subjects}`,
      writers: async (count) => {
        while (writers.length < count) await opened();
        return writers.slice(0, count);
      },
    });
  } finally {
    // First end the sessions that may hold a lock in the schema. Then drop it by a new connection
    // that has not been lost.
    await Promise.all([judge, ...writers].map((session) => session.end()));
    await dropSchema(url, schema);
  }
}

async function dropSchema(url: string, schema: string): Promise<void> {
  const session = await openSession(url);
  try {
    await session.rows(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  } finally {
    await session.end();
  }
}
