/** Groups of processes that share a part of the processors (cgroups of Linux, version 1 or 2). */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Short, so that a group that has used up its part waits a short time. */
const PERIOD_US = 20_000;
const PLACES = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup/cpu,cpuacct', '/sys/fs/cgroup'];
/** A group ends some time after its last process. */
const REMOVE_TRIES = 100;

/** A group of processes. Their children belong to it too. */
export class CpuQuota {
  readonly #folder: string;
  readonly #isFirstVersion: boolean;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#isFirstVersion = existsSync(join(folder, 'cpu.cfs_quota_us'));
  }

  /** A group without a limit. @throws the errors of the system, and where no group has a quota */
  static create(name: string): CpuQuota {
    const place = PLACES.find((each) => existsSync(join(each, 'cgroup.procs')));
    if (place === undefined) throw new Error('this system has no cgroups');
    const folder = join(place, `assize-bench-${process.pid}-${name}`);
    mkdirSync(folder);
    const group = new CpuQuota(folder);
    if (group.#isFirstVersion || existsSync(join(folder, 'cpu.max'))) return group;
    rmdirSync(folder);
    throw new Error(`groups in ${place} have no quota of the processors`);
  }

  add(...pids: readonly number[]): void {
    for (const pid of pids) writeFileSync(join(this.#folder, 'cgroup.procs'), String(pid));
  }

  /** Limits the group to so much of one processor. */
  limit(share: number): void {
    const quota = Math.round(share * PERIOD_US);
    if (this.#isFirstVersion) {
      writeFileSync(join(this.#folder, 'cpu.cfs_period_us'), String(PERIOD_US));
      writeFileSync(join(this.#folder, 'cpu.cfs_quota_us'), String(quota));
    } else writeFileSync(join(this.#folder, 'cpu.max'), `${quota} ${PERIOD_US}`);
  }

  lift(): void {
    if (this.#isFirstVersion) writeFileSync(join(this.#folder, 'cpu.cfs_quota_us'), '-1');
    else writeFileSync(join(this.#folder, 'cpu.max'), 'max');
  }

  /** The number of periods in which the group had to wait. */
  get throttled(): number {
    return Number(
      /nr_throttled (\d+)/.exec(readFileSync(join(this.#folder, 'cpu.stat'), 'utf8'))![1],
    );
  }

  /** Removes the group, whose processes end. */
  async remove(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        rmdirSync(this.#folder);
        return;
      } catch (error) {
        if (tries === REMOVE_TRIES || (error as NodeJS.ErrnoException).code !== 'EBUSY')
          throw error;
      }
      await sleep(100);
    }
  }
}

/** The reason why no group can be limited here. Undefined if one can. */
export async function whyNoQuota(): Promise<string | undefined> {
  try {
    const group = CpuQuota.create('probe');
    group.limit(0.1);
    await group.remove();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
