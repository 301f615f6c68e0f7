// Text and hashes: integers, bytes and tables.

// Where the pattern begins in the text, as a byte for each place.
kernel void string_match(global const uchar* text, constant uchar* pattern, global uchar* found,
                         int length) {
  const int i = get_global_id(0);
  int k = 0;
  while (k < length && text[i + k] == pattern[k]) ++k;
  found[i] = k == length;
}

// MD5 of the work-item's number as a message of four bytes; the first word of the digest.
kernel void md5(global uint* digest, constant uint* table, constant uint* turns) {
  uint message[16] = {0};
  message[0] = get_global_id(0);
  message[1] = 0x80;
  message[14] = 32;
  uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  for (int i = 0; i < 64; ++i) {
    uint f;
    int g;
    if (i < 16) {
      f = (b & c) | (~b & d);
      g = i;
    } else if (i < 32) {
      f = (d & b) | (~d & c);
      g = 5 * i + 1 & 15;
    } else if (i < 48) {
      f = b ^ c ^ d;
      g = 3 * i + 5 & 15;
    } else {
      f = c ^ (b | ~d);
      g = 7 * i & 15;
    }
    const uint mixed = a + f + table[i] + message[g];
    a = d;
    d = c;
    c = b;
    b += rotate(mixed, turns[i / 16 * 4 + i % 4]);
  }
  digest[get_global_id(0)] = a + 0x67452301;
}

// The compression function of SHA-256 over a block for each work-item; the first word.
kernel void sha256(global const uint* blocks, global uint* digest, constant uint* table,
                   constant uint* start) {
  uint w[16], s[8];
  for (int i = 0; i < 16; ++i) w[i] = blocks[get_global_id(0) * 16 + i];
  for (int i = 0; i < 8; ++i) s[i] = start[i];
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      const uint x = w[(i + 1) & 15], y = w[(i + 14) & 15];
      w[i & 15] += (rotate(x, 25u) ^ rotate(x, 14u) ^ x >> 3) + w[(i + 9) & 15] +
                   (rotate(y, 15u) ^ rotate(y, 13u) ^ y >> 10);
    }
    const uint e = s[4], a = s[0];
    const uint t = s[7] + (rotate(e, 26u) ^ rotate(e, 21u) ^ rotate(e, 7u)) +
                   ((e & s[5]) ^ (~e & s[6])) + table[i] + w[i & 15];
    const uint u = (rotate(a, 30u) ^ rotate(a, 19u) ^ rotate(a, 10u)) +
                   ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    for (int k = 7; k > 0; --k) s[k] = s[k - 1];
    s[4] += t;
    s[0] = t + u;
  }
  digest[get_global_id(0)] = s[0] + start[0];
}

// A checksum of each record by table.
kernel void crc32(global const uchar* data, global uint* sums, constant uint* table, int length) {
  uint crc = ~0u;
  for (int i = 0; i < length; ++i)
    crc = crc >> 8 ^ table[(crc ^ data[get_global_id(0) * length + i]) & 255];
  sums[get_global_id(0)] = ~crc;
}
