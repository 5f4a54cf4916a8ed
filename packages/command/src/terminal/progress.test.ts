import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Progress } from './progress.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function stream(isTTY: boolean): { written: string[]; stream: NodeJS.WriteStream } {
  const written: string[] = [];
  return {
    written,
    stream: { isTTY, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream,
  };
}

test('work of less than a second is silent', () => {
  const { written, stream: to } = stream(true);
  const progress = new Progress(to);
  for (let i = 0; i < 9; i++) {
    progress.report('reading', i, 9);
    vi.advanceTimersByTime(100);
  }
  progress.end();
  expect(written).toEqual([]);
});

test('on a terminal one line is redrawn, and gone at the end', () => {
  const { written, stream: to } = stream(true);
  const progress = new Progress(to);
  progress.report('reading', 0, 200);
  vi.advanceTimersByTime(2_000);
  progress.report('reading', 100, 200);
  progress.report('reading', 101, 200);
  vi.advanceTimersByTime(2_000);
  progress.report('reading', 150, 200);
  progress.end();
  expect(written).toEqual([
    '\r\u001b[Kreading: 100/200 (50 %), 50/s',
    '\r\u001b[Kreading: 150/200 (75 %), 38/s',
    '\r\u001b[K',
  ]);
});

test('work without progress is announced immediately, on a terminal only', () => {
  const [terminal, file] = [stream(true), stream(false)];
  for (const { stream: to } of [terminal, file]) {
    const progress = new Progress(to);
    progress.announce('erasing');
    progress.end();
  }
  expect(terminal.written).toEqual(['\r\u001b[Kerasing …', '\r\u001b[K']);
  expect(file.written).toEqual([]);
});

test('elsewhere there is a line now and then', () => {
  const { written, stream: to } = stream(false);
  const progress = new Progress(to);
  for (let i = 0; i <= 120; i++) {
    progress.report('reading', i);
    vi.advanceTimersByTime(100);
  }
  progress.end();
  expect(written).toEqual(['reading: 50, 10/s\n', 'reading: 100, 10/s\n']);
});
