import type { Sink } from 'assize/internal/effects';
import { killed, type ProcessOptions } from './kill.ts';
import { AT_SINK, type Point } from './points.ts';
import { Shop } from './shop.ts';
import { Sinks } from './sinks.ts';
import type { CrashStore } from './stores.ts';

/** Where a process is killed. */
export interface Killing {
  readonly point: Point;
  readonly sink: Sink;
}

/**
 * The remains of a killed process: its store, and sinks with the effects it executed. No process
 * has either open.
 */
export class CrashRemains implements AsyncDisposable {
  readonly place: CrashStore;
  readonly sinks: Sinks;

  private constructor(place: CrashStore, sinks: Sinks) {
    this.place = place;
    this.sinks = sinks;
  }

  /** Of a process that is killed now. */
  static async of(
    { point, sink }: Killing,
    newPlace: () => Promise<CrashStore>,
    beginning: ProcessOptions,
  ): Promise<CrashRemains> {
    const sinks = new Sinks(sink);
    const place = await newPlace();
    try {
      const { url } = place;
      await Shop.create(url);
      const at = AT_SINK[point];
      const isAtSink = (arrival: { did: string; tool: string }) =>
        arrival.did === at?.did && arrival.tool === at.tool;
      const port = await sinks.listen();
      await killed('victim', { url, port, sink, point }, { sinks, isAtSink }, beginning);
    } catch (error) {
      await place[Symbol.asyncDispose]();
      throw error;
    } finally {
      await sinks.close();
    }
    return new CrashRemains(place, sinks);
  }

  /** The same once more; undefined where there is no way to copy a store. */
  async copy(): Promise<CrashRemains | undefined> {
    const place = await this.place.copy?.();
    return place === undefined ? undefined : new CrashRemains(place, this.sinks.copy());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.place[Symbol.asyncDispose]());
  }
}
