package cache

import "golang.org/x/sys/windows"

// network names the network file system that holds path, or is "".
func network(path string) (string, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	var volume [windows.MAX_PATH + 1]uint16
	if err := windows.GetVolumePathName(name, &volume[0], uint32(len(volume))); err != nil {
		return "", err
	}
	if windows.GetDriveType(&volume[0]) == windows.DRIVE_REMOTE {
		return "a network drive", nil
	}
	return "", nil
}
