/** The bytes of a file as they are read. Ends early when the signal does. */
export async function* filePieces(file: Blob, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
