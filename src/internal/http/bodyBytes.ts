/**
 * Gathers a body in memory of at most a small multiple of its length, whatever the size of its chunks: an object for each would
 * cost a hundred times as much as a byte. The first chunk is kept as it is, since most bodies have only one.
 */
export class BodyBytes {
  length: number

  constructor(private bytes: Uint8Array) {
    this.length = bytes.length
  }

  add(chunk: Uint8Array) {
    const length = this.length + chunk.length
    if (length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.length))
      larger.set(this.whole)
      this.bytes = larger
    }
    this.bytes.set(chunk, this.length)
    this.length = length
  }

  get whole(): Uint8Array {
    return this.length === this.bytes.length ? this.bytes : this.bytes.subarray(0, this.length)
  }
}
