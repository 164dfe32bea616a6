package cache

import "testing"

func TestNetworkFileSystemsAreKnownByTheirMagic(t *testing.T) {
	tests := []struct {
		name  string
		magic uint32
		want  string
	}{
		{"nfs", 0x6969, "NFS"},
		{"cifs", 0xff534d42, "SMB"},
		{"smb3", 0xfe534d42, "SMB"},
		{"a Windows disk under WSL", 0x01021997, "9p"},
		{"ceph", 0x00c36400, "Ceph"},
		{"ext4", 0xef53, ""},
		{"btrfs", 0x9123683e, ""},
		{"FUSE is allowed", 0x65735546, ""},
	}
	for _, tt := range tests {
		if got := networkName(tt.magic); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if _, err := network(t.TempDir()); err != nil {
		t.Error(err)
	}
}
