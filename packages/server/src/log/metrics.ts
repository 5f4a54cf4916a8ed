/** Upper bounds of the duration buckets, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;

interface Durations {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** A value that is read when the metrics are. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

/** Counts for Prometheus, in its text format. */
export class Metrics {
  readonly #requests: Map<string, number> = new Map();
  readonly #durations: Map<string, Durations> = new Map();
  readonly #gauges: Gauge[] = [];
  readonly #counters: Map<string, number> = new Map();

  request(route: string, status: number, ms: number): void {
    const labels = `route="${route}",status="${status}"`;
    this.#requests.set(labels, (this.#requests.get(labels) ?? 0) + 1);
    const durations = this.#durations.get(route) ?? {
      counts: BUCKETS.map(() => 0),
      sum: 0,
      count: 0,
    };
    this.#durations.set(route, durations);
    const seconds = ms / 1_000;
    durations.sum += seconds;
    durations.count += 1;
    BUCKETS.forEach((most, i) => {
      if (seconds <= most) durations.counts[i] = (durations.counts[i] ?? 0) + 1;
    });
  }

  /** Counts a ruling: `committed`, `rejected`, `escalated` or `frozen`. */
  ruling(ruling: string): void {
    const labels = `ruling="${ruling}"`;
    this.#counters.set(labels, (this.#counters.get(labels) ?? 0) + 1);
  }

  gauge(gauge: Gauge): void {
    this.#gauges.push(gauge);
  }

  text(): string {
    const lines: string[] = ['# TYPE assize_requests_total counter'];
    for (const [labels, count] of this.#requests)
      lines.push(`assize_requests_total{${labels}} ${count}`);
    lines.push('# TYPE assize_rulings_total counter');
    for (const [labels, count] of this.#counters)
      lines.push(`assize_rulings_total{${labels}} ${count}`);
    lines.push('# TYPE assize_request_seconds histogram');
    for (const [route, { counts, sum, count }] of this.#durations) {
      lines.push(
        ...BUCKETS.map(
          (most, i) => `assize_request_seconds_bucket{route="${route}",le="${most}"} ${counts[i]}`,
        ),
      );
      lines.push(`assize_request_seconds_bucket{route="${route}",le="+Inf"} ${count}`);
      lines.push(`assize_request_seconds_sum{route="${route}"} ${sum}`);
      lines.push(`assize_request_seconds_count{route="${route}"} ${count}`);
    }
    for (const { name, help, read } of this.#gauges)
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`);
    return `${lines.join('\n')}\n`;
  }
}
